// Compiles pattern trees to tables. A state is an ordered list of positions in the pattern, by preference, so that the
// table finds in one pass the match of a backtracking search.
#include <algorithm>
#include <map>
#include <utility>

#include "runtime/text/format.h"
#include "tools/base/fail.h"
#include "tools/convert/text/code_ranges.h"
#include "tools/convert/text/pattern.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

constexpr size_t kMaxPlaces = 4096;
constexpr size_t kMaxStates = 2048;
constexpr uint32_t kNone = ~0u;

// An instruction at a position of the pattern.
struct Place {
  enum Kind { kTake, kCheck, kSplit, kEnd } kind = kEnd;
  uint32_t set = 0;                      // kTake, kCheck: index in the list of sets
  uint32_t next = kNone, other = kNone;  // kSplit: `next` is preferred
};

class Sets {
 public:
  // Equal sets share an index. The set must outlive this.
  uint32_t Add(const CodeSet& set) {
    const auto known = numbers_.find(&set);
    if (known != numbers_.end()) return known->second;
    const uint32_t number = NumberOf(CodeRanges(set));
    numbers_[&set] = number;
    return number;
  }

  // Numbers the equivalence classes of code points: members of the same sets.
  void Classify(PatternTables* tables) {
    if (sets_.size() > 64) Fail("the patterns have {} sets of characters, which is too many", sets_.size());
    std::vector<uint32_t> edges;
    for (const CodeRanges& set : sets_) edges.insert(edges.end(), set.edges().begin(), set.edges().end());
    for (uint32_t code = 0; code <= 128; ++code) edges.push_back(code);  // the table has each of ASCII
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::map<uint64_t, uint32_t> classes;
    for (const uint32_t code : edges) {
      if (code >= kCodePoints) break;
      const uint64_t member = MemberOf(code);
      if (code >= 128 && member == members_[tables->classes.back() & 0x7ff]) continue;
      const auto [place, added] = classes.emplace(member, static_cast<uint32_t>(classes.size()));
      if (added) members_.push_back(member);
      tables->classes.push_back(code << 11 | place->second);
    }
    members_.push_back(MemberOf(kCodePoints));
    tables->class_count = static_cast<uint32_t>(classes.size());
    if (classes.size() > text::kMaxCutClasses)
      Fail("the patterns distinguish {} classes of characters, which is too many", classes.size());
  }
  bool Has(uint32_t set, uint32_t character_class) const { return (members_[character_class] >> set & 1) != 0; }

 private:
  uint32_t NumberOf(const CodeRanges& set) {
    const auto number = static_cast<uint32_t>(std::find(sets_.begin(), sets_.end(), set) - sets_.begin());
    if (number == sets_.size()) sets_.push_back(set);
    return number;
  }

  // A bit for each set that contains it.
  uint64_t MemberOf(uint32_t code) const {
    uint64_t member = 0;
    for (size_t i = 0; i < sets_.size(); ++i) member |= uint64_t{sets_[i][code]} << i;
    return member;
  }

  std::vector<CodeRanges> sets_;
  std::map<const CodeSet*, uint32_t> numbers_;
  std::vector<uint64_t> members_;  // for each class, and the end of the text
};

// The instructions of one pattern.
class Places {
 public:
  Places(const PatternNode& pattern, Sets* sets) : sets_(*sets) {
    const uint32_t end = Add({});
    begin_ = Build(pattern, end);
  }
  uint32_t begin() const { return begin_; }
  const Place& operator[](uint32_t i) const { return places_[i]; }
  size_t size() const { return places_.size(); }

 private:
  uint32_t Add(Place place) {
    if (places_.size() == kMaxPlaces) Fail("a pattern is too large");
    places_.push_back(place);
    return static_cast<uint32_t>(places_.size() - 1);
  }

  // Returns the start of `node` with continuation `next`.
  uint32_t Build(const PatternNode& node, uint32_t next) {
    switch (node.kind) {
      case PatternNode::kEmpty:
        return next;
      case PatternNode::kSet:
        return Add({Place::kTake, sets_.Add(node.set), next, kNone});
      case PatternNode::kNext:
        return Add({Place::kCheck, sets_.Add(node.set), next, kNone});
      case PatternNode::kSequence:
        for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part) next = Build(**part, next);
        return next;
      case PatternNode::kEither: {
        uint32_t begin = kNone;
        for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part) {
          const uint32_t built = Build(**part, next);
          begin = begin == kNone ? built : Add({Place::kSplit, 0, built, begin});
        }
        return begin;
      }
      case PatternNode::kRepeat:
        return Repeat(node, next);
    }
    return next;
  }

  uint32_t Repeat(const PatternNode& node, uint32_t next) {
    const PatternNode& part = *node.parts[0];
    if (node.most == PatternNode::kUnlimited) {
      const uint32_t loop = Add({Place::kSplit, 0, kNone, next});
      const uint32_t body = Build(part, loop);
      places_[loop].next = body;
      next = loop;
    } else {
      const uint32_t after = next;
      for (uint32_t i = node.least; i < node.most; ++i) next = Add({Place::kSplit, 0, Build(part, next), after});
    }
    for (uint32_t i = 0; i < node.least; ++i) next = Build(part, next);
    return next;
  }

  Sets& sets_;
  std::vector<Place> places_;
  uint32_t begin_ = 0;
};

class Compiler {
 public:
  Compiler(const Places& places, const Sets& sets, uint32_t classes)
      : places_(places), sets_(sets), classes_(classes) {}

  void Run(PatternTables* tables) {
    const auto first = static_cast<uint32_t>(tables->transitions.size());
    StateOf({places_.begin()});
    for (size_t state = 0; state < lists_.size(); ++state) {
      const std::vector<uint32_t> list = lists_[state];
      for (uint32_t c = 0; c <= classes_; ++c) {
        if (lists_.size() > kMaxStates) Fail("a pattern needs too many states");
        const uint16_t to = Transition(list, c);
        if (state == 0 && (to & text::kCutMatch) != 0) Fail("a pattern matches the empty string");
        tables->transitions.push_back(to);
      }
    }
    tables->places.push_back({first, static_cast<uint32_t>(lists_.size()) + 1});
  }

 private:
  // Number of the state, from 1 on; 0 for an empty list.
  uint32_t StateOf(const std::vector<uint32_t>& list) {
    if (list.empty()) return 0;
    const auto [place, added] = states_.emplace(list, static_cast<uint32_t>(states_.size()) + 1);
    if (added) lists_.push_back(list);
    return place->second;
  }

  // The transition on a character of class `c`.
  uint16_t Transition(const std::vector<uint32_t>& list, uint32_t c) {
    std::vector<uint32_t> next, open(list.rbegin(), list.rend());
    std::vector<bool> seen(places_.size()), taken(places_.size());
    bool match = false;
    while (!open.empty() && !match) {
      const uint32_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      const Place& place = places_[at];
      switch (place.kind) {
        case Place::kEnd:
          match = true;  // less preferred alternatives no longer matter
          break;
        case Place::kSplit:
          open.push_back(place.other);
          open.push_back(place.next);
          break;
        case Place::kCheck:
          if (sets_.Has(place.set, c)) open.push_back(place.next);
          break;
        case Place::kTake:
          if (c == classes_ || !sets_.Has(place.set, c) || taken[place.next]) break;
          taken[place.next] = true;
          next.push_back(place.next);
          break;
      }
    }
    return static_cast<uint16_t>(StateOf(next) | (match ? text::kCutMatch : 0));
  }

  const Places& places_;
  const Sets& sets_;
  const uint32_t classes_;
  std::map<std::vector<uint32_t>, uint32_t> states_;
  std::vector<std::vector<uint32_t>> lists_;
};

}  // namespace

PatternTables CompilePatterns(const std::vector<const PatternNode*>& patterns) {
  PatternTables tables;
  Sets sets;
  std::vector<Places> places;
  for (const PatternNode* pattern : patterns) places.emplace_back(*pattern, &sets);
  sets.Classify(&tables);
  for (const Places& of_one : places) Compiler(of_one, sets, tables.class_count).Run(&tables);
  return tables;
}

}  // namespace fovea::tools
