// A step of beam search: offers the scores of a run to the search, then reorders texts to the beams that continue.
#include <string.h>

#include <algorithm>

#include "runtime/base/structs.h"
#include "runtime/generate/generate.h"
#include "runtime/generate/scores.h"

namespace fovea {
namespace {

// Tokens per block; a block is skipped if its best token is not good enough.
constexpr uint32_t kOffered = 64;

// Offers all candidates for the beams of a text.
void OfferTokens(Generator& g, uint32_t text, int32_t forced) {
  Beams& beams = g.beams;
  const auto is_stop = [&](int32_t token) { return IsStop(g, token); };
  beams.Clear();
  for (uint32_t b = 0; b < g.width; ++b) {
    const uint32_t row = text * g.width + b;
    if (!beams.IsAlive(row)) continue;
    const float sum = beams.running(row).sum;
    if (forced != kNoToken) {
      beams.Offer({sum, b, forced}, is_stop);
      continue;
    }
    AskScored(g, row, ScoresOf(g, row));
    const float* scores = g.sampler.LogProbabilities(KnownOf(g, row, ScoresOf(g, row), g.progress.steps));
    for (uint32_t first = 0, count; first < g.token_count(); first += count) {
      count = std::min(kOffered, g.token_count() - first);
      if (!beams.CouldTake(sum + HighestOf(scores + first, count))) continue;
      for (uint32_t t = first; t < first + count; ++t) {
        beams.Offer({sum + scores[t], b, static_cast<int32_t>(t)}, is_stop);
      }
    }
  }
}

// Each beam has seen the tokens of the beam that it extends, and its new token.
void PassOnSeen(Generator& g, uint32_t text) {
  if (g.token_sets.seen == nullptr) return;
  const uint32_t words = TokenWords(g.token_count());
  uint32_t* const own = g.BitsOf(g.token_sets.seen, text * g.width);
  memcpy(g.token_sets.seen_before, own, size_t{g.width} * words * sizeof(uint32_t));
  for (uint32_t b = 0; b < g.width; ++b) {
    const Beams::Next& next = g.beams.running(text * g.width + b);
    memcpy(own + size_t{b} * words, g.token_sets.seen_before + size_t{next.from} * words, words * sizeof(uint32_t));
    SetBit(own + size_t{b} * words, static_cast<uint32_t>(next.token));
  }
}

void StepText(Generator& g, uint32_t text, int32_t forced) {
  const fovea_end limit = EndOf(g, kNoToken, g.progress.steps, IsFull(g, text));
  OfferTokens(g, text, forced);
  const bool ended =
      g.beams.Take(text, g.progress.steps, limit != FOVEA_END_NOT, [&](int32_t token) { return IsStop(g, token); });
  const uint32_t first = text * g.width;
  if (ended) {
    EndText(g, text, limit == FOVEA_END_NOT ? FOVEA_END_STOP : limit);
    g.progress.tokens[text] = kNoToken;
    g.progress.best[text] = 0;
    return;
  }
  PassOnSeen(g, text);
  for (uint32_t row = first; row < first + g.width; ++row) {
    g.beams.order()[row] = first + g.beams.running(row).from;
    g.progress.last[row] = g.beams.running(row).token;
  }
  g.progress.tokens[text] = g.progress.last[first];
  g.progress.best[text] = g.beams.running(first).sum;
}

Status Write(const Generator& g, uint32_t text, uint32_t count, float sum, const Beams::Next& last,
             fovea_hypothesis* out, Reporter& reporter) {
  fovea_hypothesis values{};
  values.count = count;
  values.sum = sum;
  values.score = count == 0 ? 0 : g.beams.ScoreOf(sum, count);
  values.tokens = g.beams.Trace(text, count, last);
  if (out == nullptr) return reporter.Fail(FOVEA_E_NULL, "hypothesis is NULL");
  FOVEA_TRY(CheckStructSize(*out, reporter));
  return WriteStruct(values, out);
}

Status CheckSearch(const Generator& g, Reporter& reporter) {
  if (!g.has_beams()) return reporter.Fail(FOVEA_E_OPTION, "the generator has no beams");
  return g.progress.started ? kOk : reporter.Fail(FOVEA_E_ORDER, "generation has not started");
}

}  // namespace

Status StepBeams(Generator& g, const int32_t* forced, Reporter& reporter) {
  uint32_t* const order = g.beams.order();
  bool same = true;
  for (uint32_t row = 0; row < g.rows(); ++row) order[row] = row;
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    if (g.progress.ended[i] == 0) {
      StepText(g, i, forced == nullptr ? kNoToken : forced[i]);
    } else {
      g.progress.tokens[i] = kNoToken;
      g.progress.best[i] = 0;
    }
  }
  for (uint32_t row = 0; row < g.rows(); ++row) same = same && order[row] == row;
  if (same) return kOk;
  ReorderCarried(*g.decode, order, g.rows());
  return g.keeps_texts() ? ReorderTexts(*g.decode, order, g.rows(), reporter) : kOk;
}

Status ReadHypothesis(const Generator& g, uint32_t text, uint32_t rank, fovea_hypothesis* hypothesis,
                      Reporter& reporter) {
  FOVEA_TRY(CheckSearch(g, reporter));
  if (text >= g.progress.texts)
    return reporter.Fail(FOVEA_E_INDEX, "the generator has no text of this number", g.progress.texts, text);
  const Beams::Found* found = g.beams.FindFound(text, rank);
  if (found == nullptr) {
    return reporter.Fail(FOVEA_E_INDEX, "the text has fewer hypotheses", g.beams.found_count(text), rank);
  }
  return Write(g, text, found->count, found->sum, found->last, hypothesis, reporter);
}

Status ReadBeam(const Generator& g, uint32_t row, fovea_hypothesis* hypothesis, Reporter& reporter) {
  FOVEA_TRY(CheckSearch(g, reporter));
  if (row >= g.rows()) return reporter.Fail(FOVEA_E_INDEX, "the generator has no beam of this number", g.rows(), row);
  const uint32_t text = row / g.width;
  const bool none = !g.beams.IsAlive(row) || g.progress.ended[text] != 0;
  const Beams::Next& last = g.beams.running(row);
  return Write(g, text, none ? 0 : g.progress.steps, none ? 0 : last.sum, last, hypothesis, reporter);
}

}  // namespace fovea
