#include "runtime/generate/generate.h"

#include <string.h>

#include <algorithm>

#include "runtime/base/structs.h"
#include "runtime/generate/settings.h"

namespace fovea {
namespace {

Status CheckForced(const Generator& g, int32_t token, uint32_t text, Reporter& reporter) {
  const uint32_t limit = g.token_count();
  if (token >= 0 && static_cast<uint32_t>(token) < limit) return kOk;
  return reporter.Fail(FOVEA_E_ID, "a forced token is outside the vocabulary of the scores", limit,
                       static_cast<uint32_t>(token), text);
}

// Asks the caller which tokens may follow.
void AskAllowed(const Generator& g) {
  const fovea_sampling& sampling = g.sampler.options();
  const uint32_t words = TokenWords(g.token_count());
  for (uint32_t row = 0; row < g.rows() && g.allowed != nullptr; ++row) {
    if (g.ended[row / g.width] != 0 || (g.has_beams() && !g.beams.IsAlive(row))) continue;
    uint32_t* bits = g.BitsOf(g.allowed, row);
    memset(bits, 0xff, words * sizeof(uint32_t));
    if (sampling.allow != nullptr) sampling.allow(sampling.allow_context, row, g.steps, g.token_count(), bits);
    const uint32_t* usual = g.Usual(g.steps);
    for (uint32_t w = 0; w < words && usual != nullptr; ++w) bits[w] &= usual[w];
  }
}

Status PlaceSampling(const fovea_sampling& sampling, uint32_t max_texts, Arena& arena, Generator* g) {
  const uint32_t tokens = g->token_count();
  g->sampler.Place(sampling, g->decode->model->kernels, tokens, arena, g->has_beams() || g->suppresses);
  const uint64_t of_text = uint64_t{g->width} * TokenWords(tokens);
  if (g->sampler.penalizes()) g->seen = arena.Take<uint32_t>(max_texts * of_text);
  if (g->sampler.penalizes() && g->has_beams()) g->seen_before = arena.Take<uint32_t>(of_text);
  if (g->sampler.restricts()) g->allowed = arena.Take<uint32_t>(max_texts * of_text);
  if (!g->sampler.logprobs()) return kOk;
  g->logprobs = arena.Take<float>(max_texts);
  g->top_tokens = arena.Take<int32_t>(uint64_t{max_texts} * sampling.top_logprobs);
  g->top_logprobs = arena.Take<float>(uint64_t{max_texts} * sampling.top_logprobs);
  return kOk;
}

// Checks that the texts' space has room for a row per beam.
Status CheckRows(const Generator& g, uint32_t width, Reporter& reporter) {
  const Session& decode = *g.decode;
  if (g.link_count != 0 && !g.sets_rows) {
    return reporter.Fail(FOVEA_E_OPTION, "beam search needs a decoder with several rows per text of the encoder",
                         g.space());
  }
  for (uint32_t i = 0; i < decode.carried_count; ++i) {
    const uint32_t input = decode.carried[i].input;
    if (decode.value(input).space == g.space()) continue;
    reporter.tensor = input;
    return reporter.Fail(FOVEA_E_OPTION, "beam search needs carried inputs in the space of the texts", g.space(),
                         decode.value(input).space);
  }
  const uint32_t rows = decode.spaces[g.space()].max_rows;
  if (rows >= width) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "the session has fewer texts than beams.width", width, rows);
}

// Gives the texts' space `width` rows per row of its parent.
Status SetRows(Generator& g, Reporter& reporter) {
  if (!g.sets_rows) return kOk;
  Session& decode = *g.decode;
  const uint32_t parent = decode.model->blob.spaces[g.space()].parent;
  if (!decode.spaces[parent].bound)
    return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet: bind its segments first");
  const auto at = [](const void* width, uint32_t) -> uint64_t { return *static_cast<const uint32_t*>(width); };
  return SetSegments(decode, g.space(), {at, &g.width, decode.space_rows[parent].rows}, reporter);
}

}  // namespace

const float* ScoresOf(const Generator& g, uint32_t row) {
  const Session& decode = *g.decode;
  // Only the first beam of each text has read the prompt.
  if (g.steps == 0) row -= row % g.width;
  if (decode.value(g.scores).space != g.space()) row = decode.space_rows[g.token_space()].segments.offsets[row + 1] - 1;
  return reinterpret_cast<const float*>(FinishedRows(decode, g.scores)) + size_t{row} * g.token_count();
}

bool IsStop(const Generator& g, int32_t token) {
  return std::find(g.stop_ids, g.stop_ids + g.stop_id_count, token) != g.stop_ids + g.stop_id_count;
}

void AskScored(const Generator& g, uint32_t row, const float* scores) {
  const fovea_sampling& sampling = g.sampler.options();
  if (sampling.allow_scored == nullptr) return;
  sampling.allow_scored(sampling.allow_context, row, g.steps, g.token_count(), scores, g.BitsOf(g.allowed, row));
}

Sampler::Text KnownOf(const Generator& g, uint32_t row, const float* scores, uint32_t step) {
  return {scores, g.seen == nullptr ? nullptr : g.BitsOf(g.seen, row),
          g.allowed == nullptr ? g.Usual(step) : g.BitsOf(g.allowed, row), g.sequences[row / g.width], step};
}

void TakeToken(Generator& g, uint32_t i, const float* scores, int32_t forced, uint32_t step) {
  if (forced == kNoToken) AskScored(g, i, scores);
  const Sampler::Text known = KnownOf(g, i, scores, step);
  const uint32_t token = forced != kNoToken ? static_cast<uint32_t>(forced) : g.sampler.Choose(known);
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

bool IsFull(const Generator& g, uint32_t text) {
  return g.keeps_texts() && g.decode->cache.rows[text * g.width] >= g.decode->cache.max_rows;
}

Status PlaceGenerator(const fovea_generate_options& options, Session* decode, const Session* encode, Session* draft,
                      Arena& arena, Reporter& reporter, Generator* generator) {
  Generator g;
  g.decode = decode;
  g.encode = encode;
  if (encode != nullptr && (encode->model != decode->model || encode == decode)) {
    return reporter.Fail(FOVEA_E_OPTION, "encoder and decoder must be different sessions of one model");
  }
  fovea_sampling sampling;
  FOVEA_TRY(ReadStruct(options.sampling, &sampling, reporter));
  FOVEA_TRY(CheckSampling(sampling, reporter));
  FOVEA_TRY(ReadSettings(options, arena, reporter, &g));
  fovea_beams beams{};
  if (options.beams != nullptr && !kHasBeams) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks beams");
  }
  if (draft != nullptr && !kHasDrafts) return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks drafts");
  if (kHasBeams && options.beams != nullptr) {
    FOVEA_TRY(ReadStruct(options.beams, &beams, reporter));
    FOVEA_TRY(CheckBeams(beams, sampling, g.max_tokens, reporter));
    FOVEA_TRY(CheckRows(g, beams.width, reporter));
    g.width = beams.width;
  }
  const uint32_t max_rows = decode->spaces[g.space()].max_rows, max_texts = max_rows / g.width;
  if (kHasBeams && options.beams != nullptr) g.beams.Place(beams, max_texts, g.max_tokens, arena);
  g.last = arena.Take<int32_t>(max_rows);
  g.tokens = arena.Take<int32_t>(max_texts);
  g.best = arena.Take<float>(max_texts);
  g.ended = arena.Take<uint8_t>(max_texts);
  g.sequences = arena.Take<uint64_t>(max_texts);
  if (g.keeps_texts()) {
    g.taken = arena.Take<uint32_t>(max_texts);
    g.lengths = arena.Take<uint32_t>(max_rows);
  }
  FOVEA_TRY(PlaceSampling(sampling, max_texts, arena, &g));
  if (kHasDrafts && draft != nullptr) FOVEA_TRY(PlaceSpeculation(options, max_texts, draft, arena, reporter, &g));
  *generator = g;
  return kOk;
}

Status StartGenerator(Generator& g, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(*g.decode, reporter));
  if (g.has_draft()) FOVEA_TRY(CheckIdle(*g.speculation.draft->decode, reporter));
  g.started = false;
  FOVEA_TRY(ForgetCarried(*g.decode, reporter));
  for (uint32_t i = 0; i < g.link_count; ++i) {
    FOVEA_TRY(LinkInput(*g.decode, g.links[i].input, *g.encode, g.links[i].output, reporter));
  }
  FOVEA_TRY(SetRows(g, reporter));
  const bool bound = g.decode->spaces[g.space()].bound;
  if (!bound && !g.keeps_texts())
    return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet: bind its segments first");
  const uint32_t rows = bound ? g.decode->space_rows[g.space()].rows : 0;
  if (rows % g.width != 0) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "each text needs one row per beam", g.width, rows);
  }
  g.steps = 0;
  g.prompts = nullptr;
  g.keeps = false;
  BeginTexts(g, rows / g.width);
  std::fill_n(g.last, g.rows(), g.start);
  for (uint32_t i = 0; i < g.texts; ++i) MarkSeen(g, i, g.start);
  if (g.has_draft()) FOVEA_TRY(BeginSpeculation(g, reporter));
  g.started = true;
  return kOk;
}

void BeginTexts(Generator& g, uint32_t texts) {
  g.texts = g.left = texts;
  memset(g.ended, 0, texts);
  for (uint32_t i = 0; i < texts; ++i) g.sequences[i] = i;
  if (g.seen != nullptr) memset(g.seen, 0, size_t{g.rows()} * TokenWords(g.token_count()) * sizeof(uint32_t));
  if (g.keeps_texts()) memset(g.taken, 0, texts * sizeof(uint32_t));
  if (g.has_beams()) g.beams.Begin(texts);
}

void MarkSeen(Generator& g, uint32_t text, int32_t token) {
  if (g.seen == nullptr || token < 0 || static_cast<uint32_t>(token) >= g.token_count()) return;
  for (uint32_t b = 0; b < g.width; ++b) SetBit(g.BitsOf(g.seen, text * g.width + b), static_cast<uint32_t>(token));
}

Status NumberTexts(Generator& g, const uint64_t* numbers, uint32_t count, Reporter& reporter) {
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started: call fovea_generate_start first");
  if (g.steps != 0) return reporter.Fail(FOVEA_E_ORDER, "numbers must be set before the first step");
  if (count != g.texts) return reporter.Fail(FOVEA_E_LENGTH, "each text needs a number", g.texts, count);
  if (numbers == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "numbers is NULL");
  std::copy_n(numbers, count, g.sequences);
  return kOk;
}

Status StepGenerator(Generator& g, const int32_t* forced, Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.started) return reporter.Fail(FOVEA_E_ORDER, "generation has not started: call fovea_generate_start first");
  if (g.left == 0) {
    return reporter.Fail(FOVEA_E_ORDER, g.texts == 0 ? "the decoder has no texts yet" : "all texts have ended");
  }
  if (!g.keeps_texts() && decode.space_rows[g.space()].rows != g.rows()) {
    return reporter.Fail(FOVEA_E_ORDER, "the decoder's texts were changed since the start", g.rows(),
                         decode.space_rows[g.space()].rows);
  }
  for (uint32_t i = 0; i < g.texts && forced != nullptr; ++i) {
    if (forced[i] != kNoToken && g.ended[i] == 0) FOVEA_TRY(CheckForced(g, forced[i], i, reporter));
  }
  if (g.has_draft()) {
    if (forced == nullptr) return StepSpeculation(g, reporter);
    return reporter.Fail(FOVEA_E_OPTION, "tokens cannot be forced in speculative decoding");
  }
  AskAllowed(g);
  FOVEA_TRY(Feed(g, reporter));

  if (g.has_beams()) {
    FOVEA_TRY(StepBeams(g, forced, reporter));
    ++g.steps;
    return kOk;
  }
  const bool is_last = g.steps + 1 == g.max_tokens;
  for (uint32_t i = 0; i < g.texts; ++i) {
    if (g.ended[i] != 0) {
      TakeNone(g, i);
      continue;
    }
    TakeToken(g, i, ScoresOf(g, i), forced == nullptr ? kNoToken : forced[i], g.steps);
    if (!is_last && !IsFull(g, i) && !IsStop(g, g.tokens[i])) continue;
    g.ended[i] = 1;
    --g.left;
  }
  ++g.steps;
  return kOk;
}

}  // namespace fovea
