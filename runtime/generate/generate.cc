#include "runtime/generate/generate.h"

#include <string.h>

#include <algorithm>
#include <limits>

#include "runtime/generate/settings.h"

namespace fovea {
namespace {

constexpr int32_t kNoToken = -1;

Status CheckForced(const Generator& g, int32_t token, uint32_t text, Reporter& reporter) {
  const uint32_t limit = g.decode->value(g.scores).width;
  if (token >= 0 && static_cast<uint32_t>(token) < limit) return kOk;
  return reporter.Fail(FOVEA_E_ID, "a forced token is none of those that have scores", limit,
                       static_cast<uint32_t>(token), text);
}

bool IsStop(const Generator& g, int32_t token) {
  return std::find(g.stop_ids, g.stop_ids + g.stop_id_count, token) != g.stop_ids + g.stop_id_count;
}

// The highest score, the first of equals; NaN is no score.
uint32_t BestOf(const float* scores, uint32_t count) {
  uint32_t best = 0;
  float highest = -std::numeric_limits<float>::infinity();
  for (uint32_t i = 0; i < count; ++i) {
    if (scores[i] > highest) highest = scores[i], best = i;
  }
  return best;
}

}  // namespace

Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Arena& arena,
                      Reporter& reporter, Generator* generator) {
  Generator g;
  g.decode = decode;
  g.encode = encode;
  if (encode != nullptr && (encode->model != decode->model || encode == decode)) {
    return reporter.Fail(FOVEA_E_OPTION, "encoder and decoder must be different sessions of one model");
  }
  FOVEA_TRY(ReadSettings(options, arena, reporter, &g));
  const uint32_t max_texts = decode->spaces[g.space()].max_rows;
  g.last = arena.Take<int32_t>(max_texts);
  g.tokens = arena.Take<int32_t>(max_texts);
  g.best = arena.Take<float>(max_texts);
  g.ended = arena.Take<uint8_t>(max_texts);
  *generator = g;
  return kOk;
}

Status StartGenerator(Generator& g, Reporter& reporter) {
  g.started = false;
  FOVEA_TRY(ResetCarried(*g.decode, reporter));
  for (uint32_t i = 0; i < g.link_count; ++i) {
    FOVEA_TRY(LinkInput(*g.decode, g.links[i].input, *g.encode, g.links[i].output, reporter));
  }
  if (!g.decode->spaces[g.space()].bound) return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet");
  g.texts = g.left = g.decode->space_rows[g.space()].rows;
  g.steps = 0;
  std::fill_n(g.last, g.texts, g.start);
  memset(g.ended, 0, g.texts);
  g.started = true;
  return kOk;
}

Status StepGenerator(Generator& g, const int32_t* forced, Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started");
  if (g.left == 0) return reporter.Fail(FOVEA_E_ORDER, "all texts have ended");
  if (decode.space_rows[g.space()].rows != g.texts) {
    return reporter.Fail(FOVEA_E_ORDER, "the decoder got other texts since the start", g.texts,
                         decode.space_rows[g.space()].rows);
  }
  for (uint32_t i = 0; i < g.texts && forced != nullptr; ++i) {
    if (forced[i] != kNoToken && g.ended[i] == 0) FOVEA_TRY(CheckForced(g, forced[i], i, reporter));
  }
  if (g.texts != 0) memcpy(decode.values[g.token], g.last, g.texts * sizeof(int32_t));
  FOVEA_TRY(BeginRun(decode, reporter));
  uint32_t left = 0;
  FOVEA_TRY(AdvanceRun(decode, UINT32_MAX, &left, reporter));

  const uint32_t width = decode.value(g.scores).width;
  const auto* scores = reinterpret_cast<const float*>(FinishedRows(decode, g.scores));
  const bool is_last = ++g.steps == g.max_tokens;
  for (uint32_t i = 0; i < g.texts; ++i) {
    if (g.ended[i] != 0) {
      g.tokens[i] = kNoToken;
      g.best[i] = 0.0f;
      continue;
    }
    const float* row = scores + size_t{i} * width;
    const bool chosen = forced == nullptr || forced[i] == kNoToken;
    g.last[i] = g.tokens[i] = chosen ? static_cast<int32_t>(BestOf(row, width)) : forced[i];
    g.best[i] = row[g.tokens[i]];
    if (!is_last && !IsStop(g, g.tokens[i])) continue;
    g.ended[i] = 1;
    --g.left;
  }
  return kOk;
}

}  // namespace fovea
