// Answers to a question as spans of a context.
#include "tools/prediction/answers.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <optional>

namespace fovea::tools {
namespace {

// Probabilities of the tokens that count; the other ones get 0.
std::vector<double> Shares(const std::vector<double>& scores, const std::vector<bool>& counts) {
  double most = -HUGE_VAL, sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (counts[i]) most = std::max(most, scores[i]);
  }
  std::vector<double> shares(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (counts[i]) sum += shares[i] = exp(scores[i] - most);
  }
  for (double& share : shares) share = sum == 0 ? 0 : share / sum;
  return shares;
}

struct Candidate {
  double score;
  size_t start, end;  // tokens, inclusive
};

// The best pairs of a start and an end.
std::vector<Candidate> Candidates(const AnswerWindow& window, const std::vector<double>& starts,
                                  const std::vector<double>& ends, const AnswerRules& rules) {
  std::vector<Candidate> candidates;
  const size_t count = window.tokens.size();
  for (size_t start = 0; start < count; ++start) {
    if (!window.tokens[start].in_context) continue;
    for (size_t end = start; end < count && end - start < rules.longest; ++end) {
      const double score = starts[start] * ends[end];
      if (window.tokens[end].in_context && score > 0) candidates.push_back({score, start, end});
    }
  }
  const size_t kept = std::min<size_t>(rules.top, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(kept), candidates.end(),
                    [](const Candidate& a, const Candidate& b) {
                      if (a.score != b.score) return a.score > b.score;
                      return a.start != b.start ? a.start < b.start : a.end < b.end;
                    });
  candidates.resize(kept);
  return candidates;
}

// The span of the words that contain the first and the last token, without the spaces that tokens may include.
Answer AnswerOf(const std::string& context, const std::vector<AnswerToken>& tokens, const Candidate& candidate) {
  size_t first = candidate.start, last = candidate.end;
  while (tokens[first].continues && first > 0 && tokens[first - 1].in_context) --first;
  while (last + 1 < tokens.size() && tokens[last + 1].in_context && tokens[last + 1].continues) ++last;
  Answer answer = {candidate.score, tokens[first].begin, tokens[last].end};
  const auto space = [&](uint32_t at) { return strchr(" \t\n\r", context[at]) != nullptr; };
  while (answer.begin < answer.end && space(answer.begin)) ++answer.begin;
  while (answer.end > answer.begin && space(answer.end - 1)) --answer.end;
  return answer;
}

std::string Lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  return text;
}

enum class Kind { kLetter, kDigit, kOther };

struct Range32 {
  uint32_t first, last;
};
// Code points above ASCII that are neither letters nor digits; blocks that hold a few letters count as a whole.
constexpr Range32 kOthers[] = {
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
  for (const Range32& range : kOthers) {
    if (code >= range.first && code <= range.last) return Kind::kOther;
  }
  return Kind::kLetter;
}

bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// The code point that begins at `at` of valid UTF-8.
uint32_t CodeAt(const std::string& text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  uint32_t code = size == 1 ? first : first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size && at + i < text.size(); ++i)
    code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 63);
  return code;
}

}  // namespace

std::vector<Answer> FindAnswers(const std::string& context, const std::vector<AnswerWindow>& windows,
                                const AnswerRules& rules) {
  std::vector<Answer> answers;
  std::optional<double> none;
  const auto text = [&](const Answer& answer) {
    return Lower(context.substr(answer.begin, answer.end - answer.begin));
  };
  for (const AnswerWindow& window : windows) {
    std::vector<bool> counts;
    for (const AnswerToken& token : window.tokens) counts.push_back(token.in_context);
    if (counts.empty()) continue;
    if (window.first_is_special) counts[0] = true;
    std::vector<double> starts = Shares(window.starts, counts), ends = Shares(window.ends, counts);
    none = std::min(none.value_or(HUGE_VAL), starts[0] * ends[0]);
    starts[0] = ends[0] = 0;
    for (const Candidate& candidate : Candidates(window, starts, ends, rules)) {
      const Answer answer = AnswerOf(context, window.tokens, candidate);
      const auto same =
          std::find_if(answers.begin(), answers.end(), [&](const Answer& a) { return text(a) == text(answer); });
      if (same == answers.end()) {
        answers.push_back(answer);
      } else {
        same->score += answer.score;
      }
    }
  }
  if (rules.allow_none && none) answers.push_back({*none, 0, 0});
  std::stable_sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) { return a.score > b.score; });
  if (answers.size() > rules.top) answers.resize(rules.top);
  return answers;
}

bool IsInsideWord(const std::string& text, size_t at) {
  if (at == 0 || at >= text.size()) return false;
  size_t before = at - 1;
  while (before > 0 && Continues(text[before])) --before;
  return Continues(text[at]) || KindOf(CodeAt(text, before)) == KindOf(CodeAt(text, at));
}

uint32_t CharactersBefore(const std::string& text, uint32_t at) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < at && i < text.size(); ++i) count += Continues(text[i]) ? 0 : 1;
  return count;
}

}  // namespace fovea::tools
