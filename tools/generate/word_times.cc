#include "tools/generate/word_times.h"

#include <math.h>
#include <stddef.h>

#include <algorithm>
#include <numeric>

namespace fovea::tools {
namespace {

const char kOpening[] = "\"'“¿([{-", kClosing[] = "\"'.。,，!！?？:：”)]}、";
const char kSentenceEnds[] = ".。!！?？";
const char kPunctuation[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", kSpaces[] = " \t\n\v\f\r", kBroken[] = "\xef\xbf\xbd";
constexpr double kLongestMedian = 0.7, kFarApart = 0.5;

bool IsIn(const std::string& part, const char* text) { return std::string(text).find(part) != std::string::npos; }

std::string Stripped(const std::string& text) {
  const size_t first = text.find_first_not_of(kSpaces);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

// Reflects at both ends: frame -1 is frame 1, and so on.
void MedianFilter(size_t width, size_t count, double* row) {
  const size_t side = width / 2;
  if (count <= side) return;
  const std::vector<double> before(row, row + count);
  std::vector<double> part(width);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < width; ++k) {
      const auto at = static_cast<ptrdiff_t>(i + k) - static_cast<ptrdiff_t>(side);
      const auto last = static_cast<ptrdiff_t>(count) - 1;
      part[k] = before[static_cast<size_t>(at < 0 ? -at : at > last ? 2 * last - at : at)];
    }
    std::nth_element(part.begin(), part.begin() + static_cast<ptrdiff_t>(side), part.end());
    row[i] = part[side];
  }
}

void Norm(HeadWeights* weights, size_t head) {
  for (size_t t = 0; t < weights->tokens; ++t) {
    double* row = weights->Row(head, t);
    const double sum = std::accumulate(row, row + weights->frames, 0.0);
    for (size_t f = 0; f < weights->frames && sum > 0; ++f) row[f] /= sum;
  }
  const auto count = static_cast<double>(weights->tokens);
  for (size_t f = 0; f < weights->frames; ++f) {
    double mean = 0, squares = 0;
    for (size_t t = 0; t < weights->tokens; ++t) mean += weights->Row(head, t)[f] / count;
    for (size_t t = 0; t < weights->tokens; ++t) squares += pow(weights->Row(head, t)[f] - mean, 2) / count;
    for (size_t t = 0; t < weights->tokens; ++t) {
      double& x = weights->Row(head, t)[f];
      x = squares > 0 ? (x - mean) / sqrt(squares) : 0;
    }
  }
}

// Dynamic time warping: the path with the lowest sum from the first to the last entry, by steps right, down or both;
// returns the first column of each row.
std::vector<size_t> PathThrough(const std::vector<double>& costs, size_t rows, size_t columns) {
  enum : uint8_t { kBoth, kDown, kRight };
  std::vector<double> sums((rows + 1) * (columns + 1), HUGE_VAL);
  std::vector<uint8_t> steps(sums.size(), kRight);
  const auto at = [&](size_t row, size_t column) { return row * (columns + 1) + column; };
  sums[0] = 0;
  for (size_t row = 1; row <= rows; ++row) {
    steps[at(row, 0)] = kDown;
    for (size_t column = 1; column <= columns; ++column) {
      const double both = sums[at(row - 1, column - 1)], down = sums[at(row - 1, column)],
                   right = sums[at(row, column - 1)];
      uint8_t step = kRight;
      if (both < down && both < right) step = kBoth;
      if (down < both && down < right) step = kDown;
      steps[at(row, column)] = step;
      sums[at(row, column)] = costs[(row - 1) * columns + column - 1] + (step == kBoth   ? both
                                                                         : step == kDown ? down
                                                                                         : right);
    }
  }
  std::vector<size_t> first(rows);
  for (size_t row = rows, column = columns; row > 0;) {
    first[row - 1] = column == 0 ? 0 : column - 1;
    const uint8_t step = steps[at(row, column)];
    if (step != kRight) --row;
    if (step != kDown) --column;
  }
  return first;
}

}  // namespace

std::vector<size_t> FirstFrames(HeadWeights weights, size_t width, size_t from, size_t end) {
  const size_t rows = end - from;
  std::vector<double> costs(rows * weights.frames);
  for (size_t head = 0; head < weights.heads; ++head) {
    Norm(&weights, head);
    for (size_t row = 0; row < rows; ++row) {
      double* const values = weights.Row(head, from + row);
      MedianFilter(width, weights.frames, values);
      for (size_t f = 0; f < weights.frames; ++f) {
        costs[row * weights.frames + f] -= values[f] / static_cast<double>(weights.heads);
      }
    }
  }
  return PathThrough(costs, rows, weights.frames);
}

std::vector<TimedWord> SplitWords(const std::vector<int32_t>& tokens, bool spaces, const TextOfTokens& text_of) {
  const std::string whole = text_of(tokens);
  std::vector<TimedWord> words;
  TimedWord part;
  size_t offset = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    part.tokens.push_back(tokens[i]);
    part.text = text_of(part.tokens);
    // An incomplete character may be the beginning of one, or be invalid in the whole text as well.
    const size_t broken = part.text.find(kBroken);
    const bool is_whole = broken == std::string::npos || whole.compare(offset + broken, 3, kBroken) == 0;
    if (!is_whole && i + 1 < tokens.size()) continue;
    offset += part.text.size();
    const bool begins = !spaces || words.empty() || part.text[0] == ' ' || IsIn(Stripped(part.text), kPunctuation);
    if (begins) {
      words.push_back(part);
    } else {
      words.back().text += part.text;
      words.back().tokens.insert(words.back().tokens.end(), part.tokens.begin(), part.tokens.end());
    }
    part = {};
  }
  return words;
}

double ShortenWords(std::vector<TimedWord>* words) {
  std::vector<double> lengths;
  for (const TimedWord& word : *words) {
    if (word.end != word.begin) lengths.push_back(word.end - word.begin);
  }
  if (lengths.empty()) return 0;
  std::sort(lengths.begin(), lengths.end());
  const size_t half = lengths.size() / 2;
  double median = lengths.size() % 2 == 1 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2;
  median = std::min(kLongestMedian, median);
  for (size_t i = 1; i < words->size(); ++i) {
    TimedWord& word = (*words)[i];
    if (word.end - word.begin <= 2 * median) continue;
    if (IsIn(word.text, kSentenceEnds)) {
      word.end = word.begin + 2 * median;
    } else if (IsIn((*words)[i - 1].text, kSentenceEnds)) {
      word.begin = word.end - 2 * median;
    }
  }
  return median;
}

// Merged words remain in the list, without text and tokens.
void MergePunctuation(std::vector<TimedWord>* words) {
  std::vector<TimedWord>& all = *words;
  if (all.empty()) return;
  for (size_t following = all.size() - 1, i = following; i-- > 0;) {
    TimedWord &word = all[i], &next = all[following];
    if (!word.text.empty() && word.text[0] == ' ' && IsIn(Stripped(word.text), kOpening)) {
      next.text = word.text + next.text;
      next.tokens.insert(next.tokens.begin(), word.tokens.begin(), word.tokens.end());
      word.text.clear(), word.tokens.clear();
    } else {
      following = i;
    }
  }
  for (size_t i = 1, previous = 0; i < all.size(); ++i) {
    TimedWord &word = all[previous], &next = all[i];
    const bool ends_with_space = !word.text.empty() && word.text.back() == ' ';
    if (!ends_with_space && IsIn(next.text, kClosing)) {
      word.text += next.text;
      word.tokens.insert(word.tokens.end(), next.tokens.begin(), next.tokens.end());
      next.text.clear(), next.tokens.clear();
    } else {
      previous = i;
    }
  }
}

namespace {

// The first words after a pause begin later if they are too long.
void ShortenFirst(double median, double last_end, std::vector<TimedWord>* words) {
  const double longest = 2 * median;
  TimedWord& first = words->front();
  TimedWord* const second = words->size() > 1 ? &(*words)[1] : nullptr;
  if (first.end - last_end <= 4 * median) return;
  const bool both = second != nullptr && second->end - first.begin > 2 * longest;
  if (first.end - first.begin <= longest && !both) return;
  if (second != nullptr && second->end - second->begin > longest) {
    first.end = second->begin = std::max(second->end / 2, second->end - longest);
  }
  first.begin = std::max(0.0, first.end - longest);
}

void FitToWords(double median, SpokenSegment* segment) {
  TimedWord &first = segment->words.front(), &last = segment->words.back();
  if (segment->begin < first.end && segment->begin - kFarApart > first.begin) {
    first.begin = std::max(0.0, std::min(first.end - median, segment->begin));
  } else {
    segment->begin = first.begin;
  }
  if (segment->end > last.begin && segment->end + kFarApart < last.end) {
    last.end = std::max(last.begin + median, segment->end);
  } else {
    segment->end = last.end;
  }
}

}  // namespace

void ShareWords(const std::vector<TimedWord>& words, const std::vector<size_t>& tokens, double median, double* last_end,
                std::vector<SpokenSegment>* segments) {
  size_t next = 0;
  for (size_t i = 0; i < segments->size(); ++i) {
    SpokenSegment& segment = (*segments)[i];
    for (size_t taken = 0; next < words.size() && taken < tokens[i]; ++next) {
      if (!words[next].text.empty()) segment.words.push_back(words[next]);
      taken += words[next].tokens.size();
    }
    if (segment.words.empty()) continue;
    ShortenFirst(median, *last_end, &segment.words);
    FitToWords(median, &segment);
    *last_end = segment.end;
  }
}

}  // namespace fovea::tools
