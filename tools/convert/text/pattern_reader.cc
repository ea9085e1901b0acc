// Parses regular expressions to pattern trees.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "tools/base/fail.h"
#include "tools/convert/text/code_ranges.h"
#include "tools/convert/text/pattern.h"
#include "tools/convert/text/scripts.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kMaxRepeat = 64;

Pattern Node(PatternNode::Kind kind) {
  auto node = std::make_unique<PatternNode>();
  node->kind = kind;
  return node;
}

// Adds all characters that differ only in case.
CodeRanges AllCases(const CodeRanges& set) {
  static const auto* const kByFold = [] {
    auto* all = new std::multimap<std::string, uint32_t>;
    for (const CodeRun& run : CodeRuns()) {
      for (uint32_t code = run.first; run.maps && code < run.end; ++code) {
        const std::string fold = FoldCase(code);
        if (fold != Utf8(code)) all->emplace(fold, code);
      }
    }
    return all;
  }();
  std::set<uint32_t> others;
  for (size_t i = 0; i < set.edges().size(); i += 2) {
    for (uint32_t code = set.edges()[i]; code < std::min(set.edges()[i + 1], kCodePoints); ++code) {
      const std::string fold = FoldCase(code);
      const auto [begin, end] = kByFold->equal_range(fold);
      for (auto other = begin; other != end; ++other) others.insert(other->second);
      if (CodePoints(fold).size() == 1) others.insert(CodePoints(fold)[0]);
    }
  }
  CodeRanges added, result = set;
  for (const uint32_t code : others) added.Append(code, code + 1);
  result.Include(added);
  return result;
}

class PatternReader {
 public:
  explicit PatternReader(const std::string& regex) : regex_(regex), codes_(CodePoints(regex)) {}

  Pattern Run() {
    Pattern pattern = Either();
    if (at_ != codes_.size()) Refuse();
    return pattern;
  }

 private:
  [[noreturn]] void Refuse() const { Fail("pattern \"{}\" is not supported at character {}", regex_, at_ + 1); }

  bool More() const { return at_ < codes_.size(); }
  bool Ahead(const char* text) const {
    size_t i = at_;
    for (; *text != 0; ++text, ++i) {
      if (i >= codes_.size() || codes_[i] != static_cast<uint8_t>(*text)) return false;
    }
    return true;
  }
  bool Take(const char* text) {
    if (!Ahead(text)) return false;
    at_ += std::char_traits<char>::length(text);
    return true;
  }
  uint32_t Code() {
    if (!More()) Refuse();
    return codes_[at_++];
  }

  Pattern Either() {
    if (++depth_ > 32) Refuse();
    Pattern either = Node(PatternNode::kEither);
    do {
      either->parts.push_back(Sequence());
    } while (Take("|"));
    --depth_;
    return either->parts.size() == 1 ? std::move(either->parts[0]) : std::move(either);
  }

  Pattern Sequence() {
    Pattern sequence = Node(PatternNode::kSequence);
    std::vector<std::pair<size_t, size_t>> possessive;  // parts that give nothing back, and where they end
    while (More() && !Ahead("|") && !Ahead(")")) {
      sequence->parts.push_back(Repeated());
      if (Take("+")) possessive.emplace_back(sequence->parts.size() - 1, at_ - 1);
    }
    for (const auto& [part, at] : possessive) {
      if (GivesNothingBack(*sequence, part)) continue;
      at_ = at;
      Refuse();
    }
    return sequence;
  }

  // Whether a greedy part of one set of characters never has to give characters back, so that the possessive one is the
  // same: nothing that follows in the whole pattern begins with one of its characters.
  bool GivesNothingBack(const PatternNode& sequence, size_t part) const {
    const PatternNode& repeat = *sequence.parts[part];
    if (repeat.kind != PatternNode::kRepeat || repeat.parts[0]->kind != PatternNode::kSet || depth_ != 1) return false;
    const CodeRanges own(repeat.parts[0]->set);
    for (size_t i = part + 1; i < sequence.parts.size(); ++i) {
      const PatternNode* next = sequence.parts[i].get();
      const bool optional = next->kind == PatternNode::kRepeat && next->least == 0;
      if (next->kind == PatternNode::kRepeat) next = next->parts[0].get();
      if (next->kind != PatternNode::kSet) return false;
      if (own.Meets(CodeRanges(next->set))) return false;
      if (!optional) return true;
    }
    return true;
  }

  Pattern Repeated() {
    Pattern atom = Atom();
    while (More()) {
      uint32_t least = 0, most = PatternNode::kUnlimited;
      if (Take("?")) {
        most = 1;
      } else if (Take("+")) {
        least = 1;
      } else if (Ahead("{")) {
        ReadCounts(&least, &most);
      } else if (!Take("*")) {
        break;
      }
      if (atom->kind == PatternNode::kNext || Ahead("?")) Refuse();  // lazy
      const bool possessive = Ahead("+");
      if (possessive && codes_[at_ - 1] == '}') Refuse();  // {n}+ repeats the group
      Pattern repeat = Node(PatternNode::kRepeat);
      repeat->least = least;
      repeat->most = most;
      repeat->parts.push_back(std::move(atom));
      atom = std::move(repeat);
      if (possessive) break;  // the sequence takes the sign
    }
    return atom;
  }

  void ReadCounts(uint32_t* least, uint32_t* most) {
    Take("{");
    *least = Ahead(",") ? 0 : Count();
    *most = *least;
    if (Take(",")) *most = Ahead("}") ? PatternNode::kUnlimited : Count();
    if (!Take("}") || *least > *most || *most == 0) Refuse();
  }
  uint32_t Count() {
    uint32_t count = 0;
    const size_t begin = at_;
    while (More() && codes_[at_] >= '0' && codes_[at_] <= '9' && count <= kMaxRepeat) {
      count = 10 * count + (codes_[at_++] - '0');
    }
    if (at_ == begin || count > kMaxRepeat) Refuse();
    return count;
  }

  Pattern Atom() {
    if (Take("(?:")) return Group(fold_);
    if (Take("(?i:")) return Group(true);
    if (Take("(?!")) return Lookahead(true);
    if (Take("(?=")) return Lookahead(false);
    if (Ahead("(?")) Refuse();
    if (Take("(")) return Group(fold_);
    if (Take("$")) {  // before the end of a line
      Pattern next = Node(PatternNode::kNext);
      CodeRanges end = CodeRanges::Single('\n');
      end.Append(kCodePoints, kCodePoints + 1);
      next->set = end.ToSet();
      return next;
    }
    return SetPattern(Character().ToSet());
  }

  Pattern Group(bool fold) {
    const bool outside = std::exchange(fold_, fold);
    Pattern group = Either();
    fold_ = outside;
    if (!Take(")")) Refuse();
    return group;
  }

  Pattern Lookahead(bool inverted) {
    Pattern next = Node(PatternNode::kNext);
    CodeRanges set = Character();
    if (!Take(")")) Refuse();
    if (inverted) set.Flip();  // the end of the text is in no inverted class
    next->set = set.ToSet();
    return next;
  }

  // One character or class.
  CodeRanges Character() {
    if (Ahead("^") || Ahead("*") || Ahead("+") || Ahead("?") || Ahead("{")) Refuse();
    if (Take(".")) return CodeRanges::Single('\n').Inverted();
    CodeRanges set = Take("[") ? Class() : Take("\\") ? Escape() : CodeRanges::Single(Code());
    return fold_ ? AllCases(set) : set;
  }

  // After "[".
  CodeRanges Class() {
    if (++depth_ > 32) Refuse();
    const bool inverted = Take("^");
    CodeRanges set;
    for (bool first = true; first || !Ahead("]"); first = false) {
      if (!More() || Ahead("&&") || Ahead("[:")) Refuse();
      if (Take("[")) {
        set.Include(Class());
        continue;
      }
      const CodeRanges part = Take("\\") ? Escape() : CodeRanges::Single(Code());
      const bool range = Ahead("-") && at_ + 1 < codes_.size() && codes_[at_ + 1] != ']';
      if (!range) {
        set.Include(part);
        continue;
      }
      Take("-");
      const CodeRanges end = Take("\\") ? Escape() : CodeRanges::Single(Code());
      if (!part.IsSingle() || !end.IsSingle() || part.first() > end.first()) Refuse();
      set.Include({part.first(), end.first() + 1});
    }
    Take("]");
    --depth_;
    return inverted ? set.Inverted() : set;
  }

  // After "\".
  CodeRanges Escape() {
    const uint32_t code = Code();
    switch (code) {
      case 's':
        return Whitespace();
      case 'S':
        return Whitespace().Inverted();
      case 'd':
        return Category("Nd");
      case 'D':
        return Category("Nd").Inverted();
      case 'w':
        return WordCharacters();
      case 'W':
        return WordCharacters().Inverted();
      case 'n':
        return CodeRanges::Single('\n');
      case 'r':
        return CodeRanges::Single('\r');
      case 't':
        return CodeRanges::Single('\t');
      case 'f':
        return CodeRanges::Single('\f');
      case 'v':
        return CodeRanges::Single('\v');
      case 'p':
      case 'P': {
        const CodeRanges set = Property();
        return code == 'P' ? set.Inverted() : set;
      }
      case 'x':
      case 'u':
        return CodeRanges::Single(Hexadecimal(code == 'u' ? 4 : 2));
      default:
        break;
    }
    const bool letter = (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
    if (letter || (code >= '0' && code <= '9')) Refuse();
    return CodeRanges::Single(code);
  }

  CodeRanges Property() {
    std::string name;
    if (!Take("{")) Refuse();
    const bool inverted = Take("^");
    while (!Ahead("}")) name += Utf8(Code());
    Take("}");
    const CodeRanges set = IsScript(name) ? Script(name) : Category(name);
    return inverted ? set.Inverted() : set;
  }

  static const CodeRanges& Whitespace() {
    static const CodeRanges* const kSet = new CodeRanges(CodeRanges::Of(IsWhitespace));
    return *kSet;
  }
  static const CodeRanges& WordCharacters() {
    static const CodeRanges* const kSet = new CodeRanges(CodeRanges::Of(IsWordCharacter));
    return *kSet;
  }

  // A general category, or a group of categories by its first letter.
  CodeRanges Category(const std::string& name) {
    CodeRanges set = CodeRanges::Category(name);
    if (set.empty() || name.empty()) Refuse();
    return set;
  }

  uint32_t Hexadecimal(size_t digits) {
    const bool braces = Take("{");
    std::string text;
    while (More() && text.size() < (braces ? 6 : digits) && codes_[at_] < 128 && std::isxdigit(codes_[at_]) != 0) {
      text.push_back(static_cast<char>(codes_[at_++]));
    }
    if (text.empty() || (braces && !Take("}")) || (!braces && text.size() != digits)) Refuse();
    const uint32_t code = static_cast<uint32_t>(std::stoul(text, nullptr, 16));
    if (code >= kCodePoints) Refuse();
    return code;
  }

  const std::string& regex_;
  const std::vector<uint32_t> codes_;
  size_t at_ = 0;
  int depth_ = 0;
  bool fold_ = false;
};

}  // namespace

CodeSet SetOf(bool (*has)(uint32_t code)) { return CodeRanges::Of(has).ToSet(); }

Pattern SetPattern(CodeSet set) {
  Pattern node = Node(PatternNode::kSet);
  node->set = std::move(set);
  return node;
}

Pattern ReadPattern(const std::string& regex) { return PatternReader(regex).Run(); }

Pattern LiteralPattern(const std::string& text) {
  Pattern sequence = Node(PatternNode::kSequence);
  for (uint32_t code : CodePoints(text)) sequence->parts.push_back(SetPattern(CodeRanges::Single(code).ToSet()));
  return sequence;
}

}  // namespace fovea::tools
