#include "runtime/result/answers.h"

#include <math.h>

#include <algorithm>

#include "runtime/result/space.h"
#include "runtime/result/tokens.h"

namespace fovea {
namespace {

enum class Kind { kLetter, kDigit, kOther };

struct CodeRange {
  uint32_t first, last;
};
// Code points above ASCII that are neither letters nor digits; blocks that hold a few letters count as a whole.
constexpr CodeRange kOthers[] = {
    {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},      {0xf7, 0xf7},
    {0x2000, 0x206f}, {0x20a0, 0x20cf}, {0x2190, 0x2bff}, {0x2e00, 0x2e7f}, {0x3000, 0x3004},  {0x3008, 0x3020},
    {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40},  {0xff5b, 0xff65},
    {0xffe0, 0xffef}, {0xfff9, 0xffff}, {0xe000, 0xf8ff}, {0xd800, 0xdfff}, {0x1f000, 0x1faff}};

Kind KindOf(uint32_t code) {
  if (code < 0x80) {
    if (code >= '0' && code <= '9') return Kind::kDigit;
    const uint32_t lower = code | 0x20;
    return lower >= 'a' && lower <= 'z' ? Kind::kLetter : Kind::kOther;
  }
  for (const CodeRange& range : kOthers) {
    if (code >= range.first && code <= range.last) return Kind::kOther;
  }
  return Kind::kLetter;
}

bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// The code point that begins at `at` of valid UTF-8.
uint32_t CodeAt(const char* text, uint64_t size, uint64_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  const uint32_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  uint32_t code = bytes == 1 ? first : first & (0xffu >> (bytes + 1));
  for (uint32_t i = 1; i < bytes && at + i < size; ++i) code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 63);
  return code;
}

char Lower(char letter) { return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter); }

// Probabilities of a window's tokens, by one of its two scores.
class Shares {
 public:
  Shares(const float* scores, uint32_t which) : scores_(scores + which) {}

  // Each token that counts is added twice: first for the largest score, then for the sum.
  void Look(uint64_t token) { most_ = std::max(most_, Score(token)); }
  void Add(uint64_t token) { sum_ += exp(Score(token) - most_); }
  double operator[](uint64_t token) const { return sum_ == 0 ? 0 : exp(Score(token) - most_) / sum_; }

 private:
  double Score(uint64_t token) const { return double{scores_[2 * token]}; }

  const float* scores_;
  double most_ = -HUGE_VAL, sum_ = 0;
};

bool HasByteLevel(const Tokenizer& tokenizer) {
  for (uint32_t i = 0; i < tokenizer.pre_tokenizer.size; ++i) {
    if (static_cast<text::StepKind>(tokenizer.pre_tokenizer[i].kind) == text::StepKind::kByteLevel) return true;
  }
  return false;
}

// Reads one window.
class Window {
 public:
  Window(const Asked& asked, const fovea_text_tokens& tokens, const float* scores)
      : asked_(asked),
        tokens_(tokens),
        context_(SecondOf(tokens)),
        starts_(scores, 0),
        ends_(scores, 1),
        byte_level_(HasByteLevel(asked.tokenizer)) {
    for (Shares* shares : {&starts_, &ends_}) {
      const auto each = [&](auto&& use) {
        if (HasNone()) use(0);
        for (uint64_t token = context_.begin; token < context_.end; ++token) use(token);
      };
      each([&](uint64_t token) { shares->Look(token); });
      each([&](uint64_t token) { shares->Add(token); });
    }
  }

  // The probability that the context has no answer: that of the first token.
  double None() const {
    const bool counts = HasNone() || (context_.begin == 0 && context_.end != 0);
    return counts ? starts_[0] * ends_[0] : 0;
  }

  // The best `top` pairs of a start and an end, the best first, as answers whose begin and end are tokens, the end
  // inclusive. The first token is never one of them, as in the original.
  uint64_t Candidates(uint64_t top, uint64_t longest, fovea_answer* found) const {
    const auto before = [](const fovea_answer& a, const fovea_answer& b) {
      if (a.score > b.score || b.score > a.score) return a.score > b.score;
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    };
    uint64_t count = 0;  // a heap whose first entry is the last in order
    for (uint64_t start = std::max<uint64_t>(context_.begin, 1); start < context_.end; ++start) {
      const double starts = starts_[start];
      for (uint64_t end = start; end < context_.end && end - start < longest; ++end) {
        const fovea_answer one = {starts * ends_[end], static_cast<uint32_t>(start), static_cast<uint32_t>(end)};
        if (!(one.score > 0) || (count == top && !before(one, found[0]))) continue;
        if (count == top) std::pop_heap(found, found + count--, before);
        found[count++] = one;
        std::push_heap(found, found + count, before);
      }
    }
    std::sort_heap(found, found + count, before);
    return count;
  }

  // The span of the words that contain the first and the last token, without the spaces that tokens may include.
  fovea_answer AnswerOf(const fovea_answer& candidate) const {
    uint64_t first = candidate.begin, last = candidate.end;
    while (first > context_.begin && ContinuesWord(first)) --first;
    while (last + 1 < context_.end && ContinuesWord(last + 1)) ++last;
    fovea_answer answer = {candidate.score, tokens_.ranges[2 * first], tokens_.ranges[2 * last + 1]};
    while (answer.begin < answer.end && IsSpaceAt(answer.begin)) ++answer.begin;
    while (answer.end > answer.begin && IsSpaceAt(answer.end - 1)) --answer.end;
    return answer;
  }

 private:
  // Whether the first token means that there is no answer.
  bool HasNone() const { return tokens_.count != 0 && tokens_.special[0] != 0; }
  bool IsSpaceAt(uint32_t at) const { return IsSpace(static_cast<uint8_t>(asked_.context[at])); }
  bool ContinuesWord(uint64_t token) const {
    if (!fovea::ContinuesWord(asked_.tokenizer, tokens_, asked_.context, token)) return false;
    return !byte_level_ || IsInsideWord(asked_.context, asked_.size, tokens_.ranges[2 * token]);
  }

  const Asked& asked_;
  const fovea_text_tokens& tokens_;
  const TokenRange context_;
  Shares starts_, ends_;
  const bool byte_level_;
};

bool SameText(const char* context, const fovea_answer& a, const fovea_answer& b) {
  if (a.end - a.begin != b.end - b.begin) return false;
  for (uint32_t i = 0; i < a.end - a.begin; ++i) {
    if (Lower(context[a.begin + i]) != Lower(context[b.begin + i])) return false;
  }
  return true;
}

// Moves the `top` answers with the largest scores to the front, of equals the first. Returns their number.
uint64_t KeepBest(fovea_answer* answers, uint64_t count, uint64_t top) {
  const auto less = [](const fovea_answer& a, const fovea_answer& b) { return a.score < b.score; };
  top = std::min(top, count);
  for (uint64_t i = 0; i < top; ++i) {
    fovea_answer* most = std::max_element(answers + i, answers + count, less);
    std::rotate(answers + i, most, most + 1);
  }
  return top;
}

}  // namespace

bool IsInsideWord(const char* text, uint64_t size, uint64_t at) {
  if (at == 0 || at >= size) return false;
  uint64_t before = at - 1;
  while (before > 0 && Continues(text[before])) --before;
  return Continues(text[at]) || KindOf(CodeAt(text, size, before)) == KindOf(CodeAt(text, size, at));
}

uint64_t FindAnswers(const Asked& asked, const fovea_answer_options& options, fovea_answer* answers) {
  const uint64_t top = options.top == 0 ? 1 : options.top, longest = options.max_tokens == 0 ? 15 : options.max_tokens;
  uint64_t count = 0;
  double none = 1;
  bool has_none = false;
  const float* scores = asked.scores;
  for (uint32_t i = 0; i < asked.window_count; ++i) {
    const fovea_text_tokens& tokens = asked.windows[i];
    if (tokens.count == 0) continue;
    const Window window(asked, tokens, scores);
    scores += 2 * tokens.count;
    none = std::min(none, window.None());
    has_none = options.allow_none != 0;
    fovea_answer* const found = answers + count;  // none of them is overwritten before it is read
    const uint64_t candidates = window.Candidates(top, longest, found);
    for (uint64_t k = 0; k < candidates; ++k) {
      const fovea_answer answer = window.AnswerOf(found[k]);
      fovea_answer* same = answers;
      while (same != answers + count && !SameText(asked.context, *same, answer)) ++same;
      if (same != answers + count) {
        same->score += answer.score;
      } else {
        answers[count++] = answer;
      }
    }
  }
  if (has_none) answers[count++] = {none, 0, 0};
  return KeepBest(answers, count, top);
}

}  // namespace fovea
