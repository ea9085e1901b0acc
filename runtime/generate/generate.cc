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
  for (uint32_t row = 0; row < g.rows() && g.token_sets.allowed != nullptr; ++row) {
    if (g.progress.ended[row / g.width] != 0 || (g.has_beams() && !g.beams.IsAlive(row))) continue;
    uint32_t* bits = g.BitsOf(g.token_sets.allowed, row);
    memset(bits, 0xff, words * sizeof(uint32_t));
    if (sampling.allow != nullptr) sampling.allow(sampling.allow_context, row, g.progress.steps, g.token_count(), bits);
    const uint32_t* usual = g.Usual(g.progress.steps);
    for (uint32_t w = 0; w < words && usual != nullptr; ++w) bits[w] &= usual[w];
  }
}

Status PlaceSampling(const fovea_sampling& sampling, uint32_t max_texts, Arena& arena, Generator* g) {
  const uint32_t tokens = g->token_count();
  g->sampler.Place(sampling, g->decode->model->kernels, tokens, arena, g->has_beams() || g->token_sets.suppresses);
  const uint64_t of_text = uint64_t{g->width} * TokenWords(tokens);
  if (g->sampler.penalizes()) g->token_sets.seen = arena.Take<uint32_t>(max_texts * of_text);
  if (g->sampler.penalizes() && g->has_beams()) g->token_sets.seen_before = arena.Take<uint32_t>(of_text);
  if (g->sampler.restricts()) g->token_sets.allowed = arena.Take<uint32_t>(max_texts * of_text);
  if (!g->sampler.logprobs()) return kOk;
  g->logprobs.chosen = arena.Take<float>(max_texts);
  g->logprobs.top_tokens = arena.Take<int32_t>(uint64_t{max_texts} * sampling.top_logprobs);
  g->logprobs.top = arena.Take<float>(uint64_t{max_texts} * sampling.top_logprobs);
  return kOk;
}

// Checks that the texts' space has room for a row per beam.
Status CheckRows(const Generator& g, uint32_t width, Reporter& reporter) {
  const Session& decode = *g.decode;
  if (g.settings.link_count != 0 && !g.settings.sets_rows) {
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

// Reads and checks the options of a beam search, if there is one.
Status ReadBeams(const fovea_generate_options& options, const fovea_sampling& sampling, Reporter& reporter,
                 fovea_beams* beams, Generator* g) {
  if (options.beams == nullptr) return kOk;
  if constexpr (!kHasBeams) return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks beams");
  FOVEA_TRY(ReadStruct(options.beams, beams, reporter));
  FOVEA_TRY(CheckBeams(*beams, sampling, g->settings.max_tokens, reporter));
  FOVEA_TRY(CheckRows(*g, beams->width, reporter));
  g->width = beams->width;
  return kOk;
}

void PlaceTexts(uint32_t max_rows, uint32_t max_texts, Arena& arena, Generator* g) {
  g->progress.last = arena.Take<int32_t>(max_rows);
  g->progress.tokens = arena.Take<int32_t>(max_texts);
  g->progress.best = arena.Take<float>(max_texts);
  g->progress.ended = arena.Take<uint8_t>(max_texts);
  g->progress.ends = arena.Take<uint8_t>(max_texts);
  g->progress.sequences = arena.Take<uint64_t>(max_texts);
  if (!g->keeps_texts()) return;
  g->prompts.taken = arena.Take<uint32_t>(max_texts);
  g->prompts.run_lengths = arena.Take<uint32_t>(max_rows);
}

// Gives the texts' space `width` rows per row of its parent.
Status SetRows(Generator& g, Reporter& reporter) {
  if (!g.settings.sets_rows) return kOk;
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
  if (g.progress.steps == 0) row -= row % g.width;
  if (decode.value(g.settings.scores).space != g.space())
    row = decode.space_rows[g.token_space()].segments.offsets[row + 1] - 1;
  return reinterpret_cast<const float*>(FinishedRows(decode, g.settings.scores)) + size_t{row} * g.token_count();
}

bool IsStop(const Generator& g, int32_t token) {
  return std::find(g.settings.stop_ids, g.settings.stop_ids + g.settings.stop_id_count, token) !=
         g.settings.stop_ids + g.settings.stop_id_count;
}

void AskScored(const Generator& g, uint32_t row, const float* scores) {
  const fovea_sampling& sampling = g.sampler.options();
  if (sampling.allow_scored == nullptr) return;
  sampling.allow_scored(sampling.allow_context, row, g.progress.steps, g.token_count(), scores,
                        g.BitsOf(g.token_sets.allowed, row));
}

Sampler::Text KnownOf(const Generator& g, uint32_t row, const float* scores, uint32_t step) {
  return {scores, g.token_sets.seen == nullptr ? nullptr : g.BitsOf(g.token_sets.seen, row),
          g.token_sets.allowed == nullptr ? g.Usual(step) : g.BitsOf(g.token_sets.allowed, row),
          g.progress.sequences[row / g.width], step};
}

void TakeToken(Generator& g, uint32_t i, const float* scores, int32_t forced, uint32_t step) {
  if (forced == kNoToken) AskScored(g, i, scores);
  const Sampler::Text known = KnownOf(g, i, scores, step);
  const uint32_t token = forced != kNoToken ? static_cast<uint32_t>(forced) : g.sampler.Choose(known);
  g.progress.last[i] = g.progress.tokens[i] = static_cast<int32_t>(token);
  g.progress.best[i] = scores[token];
  MarkSeen(g, i, g.progress.tokens[i]);
  if (!g.sampler.logprobs()) return;
  const size_t top = size_t{i} * g.sampler.options().top_logprobs;
  g.logprobs.chosen[i] = g.sampler.LogProbability(scores, token, g.logprobs.top_tokens + top, g.logprobs.top + top);
}

void TakeNone(Generator& g, uint32_t i) {
  g.progress.tokens[i] = kNoToken;
  g.progress.best[i] = 0.0f;
  if (!g.sampler.logprobs()) return;
  g.logprobs.chosen[i] = 0.0f;
  const uint32_t top = g.sampler.options().top_logprobs;
  std::fill_n(g.logprobs.top_tokens + size_t{i} * top, top, kNoToken);
  std::fill_n(g.logprobs.top + size_t{i} * top, top, 0.0f);
}

bool IsFull(const Generator& g, uint32_t text) {
  return g.keeps_texts() && g.decode->cache.rows[text * g.width] >= g.decode->cache.max_rows;
}

fovea_end EndOf(const Generator& g, int32_t token, uint32_t step, bool is_full) {
  if (IsStop(g, token)) return FOVEA_END_STOP;
  if (step + 1 == g.settings.max_tokens) return FOVEA_END_LIMIT;
  return is_full ? FOVEA_END_FULL : FOVEA_END_NOT;
}

void EndText(Generator& g, uint32_t text, fovea_end end) {
  g.progress.ended[text] = 1;
  g.progress.ends[text] = static_cast<uint8_t>(end);
  --g.progress.left;
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
  if (draft != nullptr && !kHasDrafts) return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks drafts");
  fovea_beams beams{};
  FOVEA_TRY(ReadBeams(options, sampling, reporter, &beams, &g));
  const uint32_t max_rows = decode->spaces[g.space()].max_rows, max_texts = max_rows / g.width;
  if (kHasBeams && options.beams != nullptr) g.beams.Place(beams, max_texts, g.settings.max_tokens, arena);
  PlaceTexts(max_rows, max_texts, arena, &g);
  FOVEA_TRY(PlaceSampling(sampling, max_texts, arena, &g));
  if (kHasDrafts && draft != nullptr) FOVEA_TRY(PlaceSpeculation(options, max_texts, draft, arena, reporter, &g));
  *generator = g;
  return kOk;
}

Status StartGenerator(Generator& g, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(*g.decode, reporter));
  if (g.has_draft()) FOVEA_TRY(CheckIdle(*g.speculation.draft->decode, reporter));
  g.progress.started = false;
  FOVEA_TRY(ForgetCarried(*g.decode, reporter));
  for (uint32_t i = 0; i < g.settings.link_count; ++i) {
    FOVEA_TRY(LinkInput(*g.decode, g.settings.links[i].input, *g.encode, g.settings.links[i].output, reporter));
  }
  FOVEA_TRY(SetRows(g, reporter));
  const bool bound = g.decode->spaces[g.space()].bound;
  if (!bound && !g.keeps_texts())
    return reporter.Fail(FOVEA_E_ORDER, "the decoder has no texts yet: bind its segments first");
  const uint32_t rows = bound ? g.decode->space_rows[g.space()].rows : 0;
  if (rows % g.width != 0) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "each text needs one row per beam", g.width, rows);
  }
  g.progress.steps = 0;
  g.prompts.tokens = nullptr;
  g.prompts.keeps = false;
  BeginTexts(g, rows / g.width);
  std::fill_n(g.progress.last, g.rows(), g.settings.start);
  for (uint32_t i = 0; i < g.progress.texts; ++i) MarkSeen(g, i, g.settings.start);
  if (g.has_draft()) FOVEA_TRY(BeginSpeculation(g, reporter));
  g.progress.started = true;
  return kOk;
}

void BeginTexts(Generator& g, uint32_t texts) {
  g.progress.texts = g.progress.left = texts;
  memset(g.progress.ended, 0, texts);
  memset(g.progress.ends, FOVEA_END_NOT, texts);
  for (uint32_t i = 0; i < texts; ++i) g.progress.sequences[i] = i;
  if (g.token_sets.seen != nullptr)
    memset(g.token_sets.seen, 0, size_t{g.rows()} * TokenWords(g.token_count()) * sizeof(uint32_t));
  if (g.keeps_texts()) memset(g.prompts.taken, 0, texts * sizeof(uint32_t));
  if (g.has_beams()) g.beams.Begin(texts);
}

void MarkSeen(Generator& g, uint32_t text, int32_t token) {
  if (g.token_sets.seen == nullptr || token < 0 || static_cast<uint32_t>(token) >= g.token_count()) return;
  for (uint32_t b = 0; b < g.width; ++b)
    SetBit(g.BitsOf(g.token_sets.seen, text * g.width + b), static_cast<uint32_t>(token));
}

Status NumberTexts(Generator& g, const uint64_t* numbers, uint32_t count, Reporter& reporter) {
  if (!g.progress.started)
    return reporter.Fail(FOVEA_E_ORDER, "generation has not started: call fovea_generate_start first");
  if (g.progress.steps != 0) return reporter.Fail(FOVEA_E_ORDER, "numbers must be set before the first step");
  if (count != g.progress.texts)
    return reporter.Fail(FOVEA_E_LENGTH, "each text needs a number", g.progress.texts, count);
  if (numbers == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "numbers is NULL");
  std::copy_n(numbers, count, g.progress.sequences);
  return kOk;
}

Status StepGenerator(Generator& g, const int32_t* forced, Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.progress.started)
    return reporter.Fail(FOVEA_E_ORDER, "generation has not started: call fovea_generate_start first");
  if (g.progress.left == 0) {
    return reporter.Fail(FOVEA_E_ORDER,
                         g.progress.texts == 0 ? "the decoder has no texts yet" : "all texts have ended");
  }
  if (!g.keeps_texts() && decode.space_rows[g.space()].rows != g.rows()) {
    return reporter.Fail(FOVEA_E_ORDER, "the decoder's texts were changed since the start", g.rows(),
                         decode.space_rows[g.space()].rows);
  }
  for (uint32_t i = 0; i < g.progress.texts && forced != nullptr; ++i) {
    if (forced[i] != kNoToken && g.progress.ended[i] == 0) FOVEA_TRY(CheckForced(g, forced[i], i, reporter));
  }
  if (g.has_draft()) {
    if (forced == nullptr) return StepSpeculation(g, reporter);
    return reporter.Fail(FOVEA_E_OPTION, "tokens cannot be forced in speculative decoding");
  }
  AskAllowed(g);
  FOVEA_TRY(Feed(g, reporter));

  if (g.has_beams()) {
    FOVEA_TRY(StepBeams(g, forced, reporter));
    ++g.progress.steps;
    return kOk;
  }
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    if (g.progress.ended[i] != 0) {
      TakeNone(g, i);
      continue;
    }
    TakeToken(g, i, ScoresOf(g, i), forced == nullptr ? kNoToken : forced[i], g.progress.steps);
    const fovea_end end = EndOf(g, g.progress.tokens[i], g.progress.steps, IsFull(g, i));
    if (end != FOVEA_END_NOT) EndText(g, i, end);
  }
  ++g.progress.steps;
  return kOk;
}

}  // namespace fovea
