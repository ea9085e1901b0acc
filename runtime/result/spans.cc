#include "runtime/result/spans.h"

#include "runtime/model/find.h"
#include "runtime/result/space.h"
#include "runtime/result/tokens.h"

namespace fovea {
namespace {

// Whether one of the labels is `prefix`, a hyphen and `name`.
bool HasLabel(const Blob& blob, char prefix, const char* name) {
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    if (strncmp(blob.String(blob.metadata[i].key), "label.", 6) != 0) continue;
    const char* label = blob.String(blob.metadata[i].value);
    if (label[0] == prefix && label[1] == '-' && strcmp(label + 2, name) == 0) return true;
  }
  return false;
}

// A label, split into its scheme's prefix and its name.
struct Tag {
  const char* name = "";
  uint32_t label = 0;
  bool begins = false, ends = false;

  bool IsNone() const { return strcmp(name, "O") == 0; }
  // Labels without names differ by their numbers.
  bool Continues(const Tag& before) const {
    const bool same = name[0] == '\0' ? label == before.label : strcmp(name, before.name) == 0;
    return same && !before.ends && !begins;
  }
};

Tag TagOf(const Blob& blob, uint32_t label) {
  const char* full = LabelOf(blob, label);
  const char prefix = full[0] != '\0' && full[1] == '-' && full[2] != '\0' ? full[0] : '\0';
  const bool rare = prefix == 'E' || prefix == 'L' || prefix == 'S' || prefix == 'U';
  const bool known =
      prefix == 'B' || prefix == 'I' || (rare && (HasLabel(blob, 'B', full + 2) || HasLabel(blob, 'I', full + 2)));
  if (!known) return {full, label};
  const bool alone = prefix == 'S' || prefix == 'U';
  return {full + 2, label, prefix == 'B' || alone, prefix == 'E' || prefix == 'L' || alone};
}

// A token, or the tokens of a word, with the label it gets.
struct Said {
  uint32_t label = 0;
  double score = 0;
  uint32_t begin = 0, end = 0;
};

class Merger {
 public:
  explicit Merger(const Tagged& tagged) : t_(tagged) {}

  // The next word (or token) from token *at on; false: none is left.
  bool Next(uint32_t aggregation, uint64_t* at, Said* said) const {
    while (*at < t_.tokens.count && t_.tokens.special[*at] != 0) ++*at;
    if (*at == t_.tokens.count) return false;
    const uint64_t first = *at;
    uint64_t last = first;
    for (++*at; *at < t_.tokens.count && aggregation != FOVEA_AGGREGATION_SIMPLE; ++*at) {
      if (t_.tokens.special[*at] != 0) continue;
      if (!ContinuesWord(t_.tokenizer, t_.tokens, t_.text, *at)) break;
      last = *at;
    }
    *said = Best(aggregation, first, last);
    said->begin = t_.tokens.ranges[2 * first];
    said->end = t_.tokens.ranges[2 * last + 1];
    return true;
  }

 private:
  double ScoreAt(uint64_t token, uint32_t label) const { return double{t_.scores[token * t_.labels + label]}; }

  Said BestOf(uint64_t token) const {
    Said best{0, ScoreAt(token, 0)};
    for (uint32_t label = 1; label < t_.labels; ++label) {
      if (ScoreAt(token, label) > best.score) best = {label, ScoreAt(token, label)};
    }
    return best;
  }

  Said Best(uint32_t aggregation, uint64_t first, uint64_t last) const {
    Said best = BestOf(first);
    if (aggregation == FOVEA_AGGREGATION_MAX) {
      for (uint64_t token = first + 1; token <= last; ++token) {
        const Said other = BestOf(token);
        if (t_.tokens.special[token] == 0 && other.score > best.score) best = other;
      }
    } else if (aggregation == FOVEA_AGGREGATION_AVERAGE) {
      best = {0, Mean(first, last, 0)};
      for (uint32_t label = 1; label < t_.labels; ++label) {
        const double mean = Mean(first, last, label);
        if (mean > best.score) best = {label, mean};
      }
    }
    return best;
  }

  double Mean(uint64_t first, uint64_t last, uint32_t label) const {
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t token = first; token <= last; ++token) {
      if (t_.tokens.special[token] != 0) continue;
      sum += ScoreAt(token, label);
      ++count;
    }
    return sum / static_cast<double>(count);
  }

  const Tagged& t_;
};

}  // namespace

uint64_t MergeTags(const Tagged& tagged, uint32_t aggregation, fovea_span* spans, uint64_t capacity) {
  const Merger merger(tagged);
  uint64_t count = 0, at = 0, parts = 0;  // parts: words or tokens of the last span
  double mean = 0;
  Said said;
  Tag before;
  for (bool first = true; merger.Next(aggregation, &at, &said); first = false) {
    const Tag tag = TagOf(tagged.blob, said.label);
    const bool goes_on = !first && tag.Continues(before);
    before = tag;
    if (tag.IsNone()) continue;
    if (!goes_on) {
      parts = 0, mean = 0;
      while (said.begin < said.end && IsSpace(static_cast<uint8_t>(tagged.text[said.begin]))) ++said.begin;
      if (count++ < capacity) spans[count - 1] = {said.begin, said.end, said.label, 0, tag.name};
    }
    mean += (said.score - mean) / static_cast<double>(++parts);
    if (count > capacity) continue;
    spans[count - 1].end = said.end;
    spans[count - 1].score = static_cast<float>(mean);
  }
  return count;
}

}  // namespace fovea
