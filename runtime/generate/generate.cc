#include "runtime/generate/generate.h"

#include <string.h>

#include <algorithm>

#include "runtime/base/structs.h"
#include "runtime/generate/settings.h"

namespace fovea {
namespace {

constexpr int32_t kNoToken = -1;

Status CheckForced(const Generator& g, int32_t token, uint32_t text, Reporter& reporter) {
  const uint32_t limit = g.token_count();
  if (token >= 0 && static_cast<uint32_t>(token) < limit) return kOk;
  return reporter.Fail(FOVEA_E_ID, "a forced token is none of those that have scores", limit,
                       static_cast<uint32_t>(token), text);
}

bool IsStop(const Generator& g, int32_t token) {
  return std::find(g.stop_ids, g.stop_ids + g.stop_id_count, token) != g.stop_ids + g.stop_id_count;
}

uint32_t* BitsOf(uint32_t* all, const Generator& g, uint32_t text) {
  return all == nullptr ? nullptr : all + size_t{text} * TokenWords(g.token_count());
}

// Asks the caller which tokens may follow.
void AskAllowed(const Generator& g) {
  const fovea_sampling& sampling = g.sampler.options();
  for (uint32_t i = 0; i < g.texts && g.allowed != nullptr; ++i) {
    if (g.ended[i] != 0) continue;
    uint32_t* words = BitsOf(g.allowed, g, i);
    memset(words, 0xff, TokenWords(g.token_count()) * sizeof(uint32_t));
    sampling.allow(sampling.allow_context, i, g.steps, g.token_count(), words);
  }
}

// The token of a text that has not ended, and what is told of it.
void TakeToken(Generator& g, uint32_t i, const float* scores, int32_t forced) {
  const uint32_t token =
      forced != kNoToken
          ? static_cast<uint32_t>(forced)
          : g.sampler.Choose({scores, BitsOf(g.seen, g, i), BitsOf(g.allowed, g, i), g.sequences[i], g.steps});
  g.last[i] = g.tokens[i] = static_cast<int32_t>(token);
  g.best[i] = scores[token];
  MarkSeen(g, i, g.tokens[i]);
  if (!g.sampler.logprobs()) return;
  const size_t top = size_t{i} * g.sampler.options().top_logprobs;
  g.logprobs[i] = g.sampler.LogProbability(scores, token, g.top_tokens + top, g.top_logprobs + top);
}

void TakeNone(Generator& g, uint32_t i) {
  g.tokens[i] = kNoToken;
  g.best[i] = 0.0f;
  if (!g.sampler.logprobs()) return;
  g.logprobs[i] = 0.0f;
  const uint32_t top = g.sampler.options().top_logprobs;
  std::fill_n(g.top_tokens + size_t{i} * top, top, kNoToken);
  std::fill_n(g.top_logprobs + size_t{i} * top, top, 0.0f);
}

Status PlaceSampling(const fovea_sampling* given, uint32_t max_texts, Arena& arena, Reporter& reporter, Generator* g) {
  fovea_sampling sampling;
  FOVEA_TRY(ReadStruct(given, &sampling, reporter));
  FOVEA_TRY(CheckSampling(sampling, reporter));
  const uint32_t tokens = g->token_count();
  g->sampler.Place(sampling, g->decode->model->kernels, tokens, arena);
  const uint64_t words = uint64_t{max_texts} * TokenWords(tokens);
  if (g->sampler.penalizes()) g->seen = arena.Take<uint32_t>(words);
  if (sampling.allow != nullptr) g->allowed = arena.Take<uint32_t>(words);
  if (!g->sampler.logprobs()) return kOk;
  g->logprobs = arena.Take<float>(max_texts);
  g->top_tokens = arena.Take<int32_t>(uint64_t{max_texts} * sampling.top_logprobs);
  g->top_logprobs = arena.Take<float>(uint64_t{max_texts} * sampling.top_logprobs);
  return kOk;
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
  g.sequences = arena.Take<uint64_t>(max_texts);
  if (g.keeps_texts()) {
    g.taken = arena.Take<uint32_t>(max_texts);
    g.lengths = arena.Take<uint32_t>(max_texts);
  }
  FOVEA_TRY(PlaceSampling(options.sampling, max_texts, arena, reporter, &g));
  *generator = g;
  return kOk;
}

Status StartGenerator(Generator& g, Reporter& reporter) {
  g.started = false;
  FOVEA_TRY(ForgetCarried(*g.decode, reporter));
  for (uint32_t i = 0; i < g.link_count; ++i) {
    FOVEA_TRY(LinkInput(*g.decode, g.links[i].input, *g.encode, g.links[i].output, reporter));
  }
  const bool bound = g.decode->spaces[g.space()].bound;
  if (!bound && !g.keeps_texts()) return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet");
  g.steps = 0;
  g.prompts = nullptr;
  g.keeps = false;
  BeginTexts(g, bound ? g.decode->space_rows[g.space()].rows : 0);
  std::fill_n(g.last, g.texts, g.start);
  for (uint32_t i = 0; i < g.texts; ++i) MarkSeen(g, i, g.start);
  g.started = true;
  return kOk;
}

void BeginTexts(Generator& g, uint32_t texts) {
  g.texts = g.left = texts;
  memset(g.ended, 0, texts);
  for (uint32_t i = 0; i < texts; ++i) g.sequences[i] = i;
  if (g.seen != nullptr) memset(g.seen, 0, size_t{texts} * TokenWords(g.token_count()) * sizeof(uint32_t));
  if (g.keeps_texts()) memset(g.taken, 0, texts * sizeof(uint32_t));
}

void MarkSeen(Generator& g, uint32_t text, int32_t token) {
  if (g.seen == nullptr || token < 0 || static_cast<uint32_t>(token) >= g.token_count()) return;
  SetBit(BitsOf(g.seen, g, text), static_cast<uint32_t>(token));
}

Status NumberTexts(Generator& g, const uint64_t* numbers, uint32_t count, Reporter& reporter) {
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started");
  if (g.steps != 0) return reporter.Fail(FOVEA_E_ORDER, "a step has been made already");
  if (count != g.texts) return reporter.Fail(FOVEA_E_LENGTH, "a number for each text is needed", g.texts, count);
  if (numbers == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "numbers is NULL");
  std::copy_n(numbers, count, g.sequences);
  return kOk;
}

Status StepGenerator(Generator& g, const int32_t* forced, Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started");
  if (g.left == 0) {
    return reporter.Fail(FOVEA_E_ORDER, g.texts == 0 ? "the decoder has no texts yet" : "all texts have ended");
  }
  if (!g.keeps_texts() && decode.space_rows[g.space()].rows != g.texts) {
    return reporter.Fail(FOVEA_E_ORDER, "the decoder got other texts since the start", g.texts,
                         decode.space_rows[g.space()].rows);
  }
  for (uint32_t i = 0; i < g.texts && forced != nullptr; ++i) {
    if (forced[i] != kNoToken && g.ended[i] == 0) FOVEA_TRY(CheckForced(g, forced[i], i, reporter));
  }
  AskAllowed(g);
  FOVEA_TRY(Feed(g, reporter));

  const auto* scores = reinterpret_cast<const float*>(FinishedRows(decode, g.scores));
  const bool is_last = g.steps + 1 == g.max_tokens;
  for (uint32_t i = 0; i < g.texts; ++i) {
    if (g.ended[i] != 0) {
      TakeNone(g, i);
      continue;
    }
    TakeToken(g, i, scores + size_t{i} * g.token_count(), forced == nullptr ? kNoToken : forced[i]);
    const bool full = g.keeps_texts() && decode.cache.rows[i] >= decode.cache.max_rows;
    if (!is_last && !full && !IsStop(g, g.tokens[i])) continue;
    g.ended[i] = 1;
    --g.left;
  }
  ++g.steps;
  return kOk;
}

}  // namespace fovea
