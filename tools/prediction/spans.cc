#include "tools/prediction/spans.h"

#include <string.h>

#include <algorithm>

namespace fovea::tools {
namespace {

// A label, split into prefix and name.
struct Tag {
  std::string label;
  bool begins = false, ends = false;
};

std::vector<Tag> TagsOf(const std::vector<std::string>& labels) {
  const auto is_label = [&](const std::string& name) { return std::count(labels.begin(), labels.end(), name) != 0; };
  std::vector<Tag> tags;
  for (const std::string& name : labels) {
    const char place = name.size() > 2 && name[1] == '-' ? name[0] : '\0';
    const std::string label = place == '\0' ? name : name.substr(2);
    const bool of_scheme =
        place == 'B' || place == 'I' ||
        (place != '\0' && strchr("ELSU", place) != nullptr && (is_label("B-" + label) || is_label("I-" + label)));
    if (!of_scheme) {
      tags.push_back({name});
      continue;
    }
    const bool alone = place == 'S' || place == 'U';
    tags.push_back({label, place == 'B' || alone, place == 'E' || place == 'L' || alone});
  }
  return tags;
}

// A token, or the tokens of a word, with its tag.
struct Said {
  size_t best;
  double share;
  uint32_t begin, end;
};

Said SaidBy(const std::vector<double>& shares, uint32_t begin, uint32_t end) {
  const auto best = std::max_element(shares.begin(), shares.end());
  return {static_cast<size_t>(best - shares.begin()), *best, begin, end};
}

Said SaidByWord(const TaggedToken* first, const TaggedToken* end, Aggregation aggregation) {
  std::vector<double> shares = first->shares;
  if (aggregation == Aggregation::kMax) {
    const auto surest = [](const TaggedToken& token) {
      return *std::max_element(token.shares.begin(), token.shares.end());
    };
    shares = std::max_element(first, end, [&](const TaggedToken& a, const TaggedToken& b) {
               return surest(a) < surest(b);
             })->shares;
  } else if (aggregation == Aggregation::kAverage) {
    for (const TaggedToken* token = first + 1; token < end; ++token) {
      for (size_t i = 0; i < shares.size(); ++i) shares[i] += token->shares[i];
    }
    for (double& share : shares) share /= static_cast<double>(end - first);
  }
  return SaidBy(shares, first->begin, end[-1].end);
}

}  // namespace

std::vector<Span> SpansOf(const std::vector<TaggedToken>& tokens, const std::vector<std::string>& labels,
                          Aggregation aggregation) {
  std::vector<Said> all;
  for (size_t i = 0, end = 0; i < tokens.size(); i = end) {
    end = i + 1;
    while (aggregation != Aggregation::kSimple && end < tokens.size() && tokens[end].continues) ++end;
    all.push_back(SaidByWord(&tokens[i], tokens.data() + end, aggregation));
  }
  const std::vector<Tag> tags = TagsOf(labels);
  std::vector<Span> spans;
  size_t parts = 0;  // words or tokens of the last span
  const Tag* before = nullptr;
  for (const Said& said : all) {
    const Tag& tag = tags[said.best];
    const bool goes_on = before != nullptr && before->label == tag.label && !before->ends && !tag.begins;
    before = &tag;
    if (tag.label == "O") continue;
    if (!goes_on) {
      spans.push_back({tag.label, said.begin, said.end, said.share});
      parts = 1;
      continue;
    }
    Span& span = spans.back();
    span.end = said.end;
    span.probability += (said.share - span.probability) / static_cast<double>(++parts);
  }
  return spans;
}

Span WithoutSpaces(Span span, const std::string& text) {
  while (span.begin < span.end && span.begin < text.size() && strchr(" \t\n\r", text[span.begin]) != nullptr)
    ++span.begin;
  return span;
}

}  // namespace fovea::tools
