// Beam search as Hugging Face's generation writes it down: lists of whole sequences, in double, nothing shared.
#ifndef FOVEA_TESTS_GENERATE_PLAIN_BEAMS_H_
#define FOVEA_TESTS_GENERATE_PLAIN_BEAMS_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "fovea/generate.h"

namespace fovea::test {

using Sequence = std::vector<int32_t>;

struct PlainBeams {
  uint32_t width = 1, stop = 0, max_tokens = 1;
  double length_penalty = 1, repetition_penalty = 1;
  std::vector<int32_t> stop_ids, forbidden;
  bool never_best = false;      // the token with the highest score does not follow
  std::vector<int32_t> forced;  // token forced at each step, -1: none
};

struct Candidate {
  Sequence tokens;
  double score = -1e9;
  bool is_finished = false;
};

inline void SortByScore(std::vector<Candidate>* all, size_t count) {
  std::stable_sort(all->begin(), all->end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  all->resize(std::min(count, all->size()));
}

inline std::vector<double> LogProbabilities(const PlainBeams& p, const std::vector<float>& scores, const Sequence& text,
                                            size_t step) {
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - highest);
  std::vector<double> logs;
  for (const float score : scores) logs.push_back(score - highest - std::log(sum));
  for (size_t t = 0; t < logs.size(); ++t) {
    if (std::count(text.begin(), text.end(), static_cast<int32_t>(t)) != 0) logs[t] *= p.repetition_penalty;
  }
  for (const int32_t t : p.forbidden) logs[static_cast<size_t>(t)] = -HUGE_VAL;
  if (p.never_best)
    logs[static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())] = -HUGE_VAL;
  if (step < p.forced.size() && p.forced[step] >= 0) {
    std::fill(logs.begin(), logs.end(), -HUGE_VAL);
    logs[static_cast<size_t>(p.forced[step])] = 0;
  }
  return logs;
}

// `scores` gives the scores of the next token after a text: the prompt and some tokens.
inline std::vector<Candidate> SearchPlainly(const PlainBeams& p, const Sequence& prompt,
                                            const std::function<std::vector<float>(const Sequence&)>& scores) {
  const size_t kept = std::max<size_t>(2, 1 + p.stop_ids.size()) * p.width;
  std::vector<Candidate> running(p.width), finished(p.width);
  running[0].score = 0;
  bool can_improve = true;
  for (size_t length = 1;; ++length) {
    std::vector<Candidate> next;
    for (const Candidate& beam : running) {
      Sequence text = prompt;
      text.insert(text.end(), beam.tokens.begin(), beam.tokens.end());
      const std::vector<double> logs = LogProbabilities(p, scores(text), text, length - 1);
      for (size_t t = 0; t < logs.size(); ++t) {
        if (logs[t] == -HUGE_VAL) continue;
        next.push_back(beam);
        next.back().tokens.push_back(static_cast<int32_t>(t));
        next.back().score += logs[t];
      }
    }
    SortByScore(&next, kept);
    std::vector<Candidate> merged = finished, going = next;
    for (size_t i = 0; i < next.size(); ++i) {
      const bool stops =
          length == p.max_tokens || std::count(p.stop_ids.begin(), p.stop_ids.end(), next[i].tokens.back()) != 0;
      if (stops) going[i].score -= 1e9;
      Candidate candidate = next[i];
      candidate.score /= std::pow(static_cast<double>(length), p.length_penalty);
      candidate.is_finished = stops && i < p.width;
      if (!candidate.is_finished) candidate.score -= 1e9;
      merged.push_back(candidate);
    }
    SortByScore(&going, p.width);
    SortByScore(&merged, p.width);
    running = going;
    finished = merged;
    const bool full = std::all_of(finished.begin(), finished.end(), [](const auto& f) { return f.is_finished; });
    const bool longest = p.stop == FOVEA_BEAMS_STOP_NEVER && p.length_penalty > 0;
    const double divisor = std::pow(longest ? p.max_tokens : static_cast<double>(length), p.length_penalty);
    can_improve = !full || running[0].score / divisor > finished.back().score;
    if (!can_improve || length == p.max_tokens || (full && p.stop == FOVEA_BEAMS_STOP_FIRST)) break;
  }
  // Those that were never possible.
  while (!finished.empty() && (!finished.back().is_finished || finished.back().score < -1e6)) finished.pop_back();
  return finished;
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GENERATE_PLAIN_BEAMS_H_
