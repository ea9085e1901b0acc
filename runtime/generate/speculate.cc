#include "runtime/generate/speculate.h"

#include <algorithm>

#include "runtime/generate/generate.h"

namespace fovea {
namespace {

// Checks that texts can be rewound over all draft tokens, and that the session has no other state.
Status CheckRewinds(const Generator& g, uint32_t tokens, Reporter& reporter) {
  const Session& session = *g.decode;
  if (!g.keeps_texts()) return reporter.Fail(FOVEA_E_OPTION, "speculative decoding needs decoders with a KV cache");
  if (session.carried_count != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "speculative decoding needs decoders without carried inputs", 0,
                         session.carried_count);
  }
  for (uint32_t i = 0; i < session.cache.space_count; ++i) {
    if (session.cache.spaces[i].window == 0 || session.cache.rewind_rows > tokens) continue;
    return reporter.Fail(FOVEA_E_OPTION, "sliding windows need rewind_rows above draft_tokens", tokens + 1,
                         session.cache.rewind_rows);
  }
  return kOk;
}

Status CheckDraft(const Generator& g, const Generator& draft, uint32_t tokens, Reporter& reporter) {
  FOVEA_TRY(CheckRewinds(g, tokens, reporter));
  FOVEA_TRY(CheckRewinds(draft, tokens, reporter));
  if (g.decode->value(g.settings.scores).space != g.token_space()) {
    return reporter.Fail(FOVEA_E_OPTION, "speculative decoding needs scores in the space of the token", g.token_space(),
                         g.decode->value(g.settings.scores).space);
  }
  if (draft.token_count() != g.token_count()) {
    return reporter.Fail(FOVEA_E_OPTION, "the draft's vocabulary has another size", g.token_count(),
                         draft.token_count());
  }
  const SpaceState &of_draft = draft.decode->spaces[draft.token_space()], &own = g.decode->spaces[g.space()];
  if (of_draft.max_segments >= own.max_rows && of_draft.max_rows / 2 >= own.max_rows &&
      of_draft.max_segment_rows >= 2) {
    return kOk;
  }
  return reporter.Fail(FOVEA_E_OPTION, "the draft's limits must allow this many texts with two new tokens each",
                       own.max_rows, of_draft.max_segments);
}

// Number of draft tokens for a text in this round; `active`: number of texts in the round.
uint32_t GuessCount(const Generator& g, uint32_t text, uint32_t active) {
  const Speculation& s = g.speculation;
  const SpaceState& space = g.decode->spaces[g.token_space()];
  const Cache &own = g.decode->cache, &of_draft = s.draft->decode->cache;
  const uint32_t unread = s.unread_counts[text], room = of_draft.max_rows - of_draft.rows[text];
  if (unread > 2 || room < unread) return 0;
  uint32_t count = std::min({s.tokens, room - unread + 1, own.max_rows - own.rows[text] - 1,
                             space.max_rows / active - 1, space.max_segment_rows - 1});
  if (g.settings.max_tokens != 0) count = std::min(count, g.settings.max_tokens - g.progress.steps - 1);
  return count;
}

// Runs the draft model, one token per text at a time.
Status Guess(Generator& g, Reporter& reporter) {
  const Speculation& s = g.speculation;
  Generator& draft = *s.draft;
  const uint32_t stride = s.tokens + 1;
  const uint32_t most = *std::max_element(s.guess_counts, s.guess_counts + g.progress.texts);
  for (uint32_t k = 0; k < most; ++k) {
    for (uint32_t i = 0; i < g.progress.texts; ++i) {
      draft.prompts.run_lengths[i] = s.guess_counts[i] <= k ? 0 : k == 0 ? s.unread_counts[i] : 1;
    }
    FOVEA_TRY(k == 0 ? ReadTokens(draft, s.unread, 2, reporter) : ReadTokens(draft, s.guesses + k, stride, reporter));
    for (uint32_t i = 0; i < g.progress.texts; ++i) {
      if (s.guess_counts[i] <= k) continue;
      // Uses the random number of the step in which the token would be chosen, so that both models tend to choose the
      // same.
      const Sampler::Text known = KnownOf(g, i, ScoresOf(draft, i), g.progress.steps + k);
      s.guesses[size_t{i} * stride + k + 1] = static_cast<int32_t>(g.sampler.Choose(known));
    }
  }
  return kOk;
}

// Rewinds the draft to its state before the round.
void ForgetGuesses(Generator& g) {
  const Speculation& s = g.speculation;
  Reporter unused(nullptr);
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    if (s.guess_counts[i] == 0) continue;
    const Status status = RewindText(*s.draft->decode, i, s.draft_rows[i], unused);
    (void)status;  // cannot fail: these rows existed before the round, and rewind_rows covers them
  }
}

void Keep(const Generator& g, uint32_t text, uint32_t at) {
  const Speculation& s = g.speculation;
  const size_t to = size_t{text} * (s.tokens + 1) + at;
  s.made[to] = g.progress.tokens[text];
  s.scores[to] = g.progress.best[text];
  if (!g.sampler.logprobs()) return;
  const size_t top = g.sampler.options().top_logprobs;
  s.logprobs[to] = g.logprobs.chosen[text];
  std::copy_n(g.logprobs.top_tokens + text * top, top, s.top_tokens + to * top);
  std::copy_n(g.logprobs.top + text * top, top, s.top_logprobs + to * top);
}

void Give(const Generator& g, uint32_t text, uint32_t at) {
  const Speculation& s = g.speculation;
  const size_t from = size_t{text} * (s.tokens + 1) + at;
  g.progress.last[text] = g.progress.tokens[text] = s.made[from];
  g.progress.best[text] = s.scores[from];
  if (!g.sampler.logprobs()) return;
  const size_t top = g.sampler.options().top_logprobs;
  g.logprobs.chosen[text] = s.logprobs[from];
  std::copy_n(s.top_tokens + from * top, top, g.logprobs.top_tokens + text * top);
  std::copy_n(s.top_logprobs + from * top, top, g.logprobs.top + text * top);
}

// Chooses the text's next tokens while they equal the draft's, and one more. `rows`: the decoder's rows of the text
// before the round. Returns the number of tokens.
uint32_t Accept(Generator& g, uint32_t text, uint32_t rows) {
  const Speculation& s = g.speculation;
  const int32_t* guesses = s.guesses + size_t{text} * (s.tokens + 1);
  const Session& decode = *g.decode;
  const float* scores = reinterpret_cast<const float*>(FinishedRows(decode, g.settings.scores)) +
                        size_t{decode.space_rows[g.token_space()].segments.offsets[text]} * g.token_count();
  for (uint32_t k = 0;; ++k, scores += g.token_count()) {
    TakeToken(g, text, scores, kNoToken, g.progress.steps + k);
    Keep(g, text, k);
    const int32_t token = g.progress.tokens[text];
    s.ends[text] = EndOf(g, token, g.progress.steps + k, rows + k + 1 >= decode.cache.max_rows);
    if (s.ends[text] != FOVEA_END_NOT || k == s.guess_counts[text] || token != guesses[k + 1]) return k + 1;
  }
}

// Rewinds both sessions to the accepted tokens; the draft may lack the last one or two.
Status TakeBack(Generator& g, uint32_t text, uint32_t rows, Reporter& reporter) {
  const Speculation& s = g.speculation;
  const uint32_t count = s.made_counts[text], guessed = s.guess_counts[text];
  const int32_t* made = s.made + size_t{text} * (s.tokens + 1);
  int32_t* const unread = s.unread + size_t{text} * 2;
  FOVEA_TRY(RewindText(*g.decode, text, rows + count, reporter));
  if (guessed == 0) {  // the draft has no room left
    if (s.unread_counts[text] < 2) unread[s.unread_counts[text]] = made[0];
    if (s.unread_counts[text] < 3) ++s.unread_counts[text];
    return kOk;
  }
  const uint32_t read = std::min(count, guessed) - 1;
  FOVEA_TRY(RewindText(*s.draft->decode, text, s.draft_rows[text] + s.unread_counts[text] + read, reporter));
  s.unread_counts[text] = count - read;
  std::copy_n(made + read, count - read, unread);
  return kOk;
}

// Gives every text whose tokens are used up at least one more.
Status Round(Generator& g, uint32_t active, Reporter& reporter) {
  Speculation& s = g.speculation;
  const uint32_t stride = s.tokens + 1;
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    const bool waits = g.progress.ended[i] != 0 || s.given[i] < s.made_counts[i];
    s.guess_counts[i] = waits ? 0 : GuessCount(g, i, active);
    s.draft_rows[i] = s.draft->decode->cache.rows[i];
    s.guesses[size_t{i} * stride] = g.progress.last[i];
  }
  Status status = Guess(g, reporter);
  if (status.ok()) {
    for (uint32_t i = 0; i < g.progress.texts; ++i) {
      const bool waits = g.progress.ended[i] != 0 || s.given[i] < s.made_counts[i];
      g.prompts.run_lengths[i] = waits ? 0 : s.guess_counts[i] + 1;
    }
    status = ReadTokens(g, s.guesses, stride, reporter);
  }
  if (!status.ok()) {
    ForgetGuesses(g);
    return status;
  }
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    if (g.prompts.run_lengths[i] == 0) continue;
    const uint32_t rows = g.decode->cache.rows[i] - g.prompts.run_lengths[i];
    s.made_counts[i] = Accept(g, i, rows);
    s.given[i] = 0;
    FOVEA_TRY(TakeBack(g, i, rows, reporter));
  }
  return kOk;
}

// Prefill in both sessions, and the first token of each text.
Status FirstRound(Generator& g, Reporter& reporter) {
  Speculation& s = g.speculation;
  Generator& draft = *s.draft;
  if (draft.progress.steps == 0) {
    FOVEA_TRY(Feed(draft, reporter));
    draft.progress.steps = 1;
  }
  FOVEA_TRY(Feed(g, reporter));
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    TakeToken(g, i, ScoresOf(g, i), kNoToken, 0);
    Keep(g, i, 0);
    s.ends[i] = EndOf(g, g.progress.tokens[i], 0, IsFull(g, i));
    s.made_counts[i] = s.unread_counts[i] = 1;
    s.given[i] = 0;
    s.unread[size_t{i} * 2] = g.progress.tokens[i];
  }
  return kOk;
}

}  // namespace

Status PlaceSpeculation(const fovea_generate_options& options, uint32_t max_texts, Session* draft, Arena& arena,
                        Reporter& reporter, Generator* g) {
  Speculation& s = g->speculation;
  s.tokens = options.draft_tokens;
  if (s.tokens == 0 || s.tokens > kMaxDraftTokens) {
    return reporter.Fail(FOVEA_E_OPTION, "draft_tokens must be from 1 to 64", kMaxDraftTokens, s.tokens);
  }
  if (g->has_beams() || g->sampler.restricts() || draft == g->decode) {
    return reporter.Fail(FOVEA_E_OPTION, "a draft must be another session, without beams and allowed tokens");
  }
  fovea_generate_options of_draft{};
  of_draft.struct_size = sizeof(of_draft);
  of_draft.start = g->settings.start < 0 ? nullptr : &g->settings.start;
  s.draft = arena.Take<Generator>(1);
  Generator placed;
  FOVEA_TRY(PlaceGenerator(of_draft, draft, nullptr, nullptr, arena, reporter, &placed));
  FOVEA_TRY(CheckDraft(*g, placed, s.tokens, reporter));
  if (s.draft != nullptr) *s.draft = placed;
  const uint64_t slots = uint64_t{max_texts} * (s.tokens + 1), top = g->sampler.options().top_logprobs;
  s.guesses = arena.Take<int32_t>(slots);
  s.guess_counts = arena.Take<uint32_t>(max_texts);
  s.unread = arena.Take<int32_t>(uint64_t{max_texts} * 2);
  s.unread_counts = arena.Take<uint32_t>(max_texts);
  s.draft_rows = arena.Take<uint32_t>(max_texts);
  s.made = arena.Take<int32_t>(slots);
  s.scores = arena.Take<float>(slots);
  s.made_counts = arena.Take<uint32_t>(max_texts);
  s.given = arena.Take<uint32_t>(max_texts);
  s.ends = arena.Take<fovea_end>(max_texts);
  if (!g->sampler.logprobs()) return kOk;
  s.logprobs = arena.Take<float>(slots);
  s.top_tokens = arena.Take<int32_t>(slots * top);
  s.top_logprobs = arena.Take<float>(slots * top);
  return kOk;
}

Status BeginSpeculation(Generator& g, Reporter& reporter) {
  Generator& draft = *g.speculation.draft;
  FOVEA_TRY(StartGenerator(draft, reporter));
  BeginTexts(draft, g.progress.texts);
  std::fill_n(draft.progress.last, g.progress.texts, g.settings.start);
  draft.settings.start = g.settings.start;
  draft.prompts.tokens = g.prompts.tokens;
  draft.prompts.lengths = g.prompts.lengths;
  draft.prompts.keeps = g.prompts.keeps;
  return kOk;
}

Status StepSpeculation(Generator& g, Reporter& reporter) {
  Speculation& s = g.speculation;
  if (g.progress.steps == 0) {
    FOVEA_TRY(FirstRound(g, reporter));
  } else {
    uint32_t active = 0;
    for (uint32_t i = 0; i < g.progress.texts; ++i)
      active += g.progress.ended[i] == 0 && s.given[i] == s.made_counts[i] ? 1 : 0;
    if (active != 0) FOVEA_TRY(Round(g, active, reporter));
  }
  for (uint32_t i = 0; i < g.progress.texts; ++i) {
    if (g.progress.ended[i] != 0) {
      TakeNone(g, i);
      continue;
    }
    Give(g, i, s.given[i]++);
    if (s.given[i] == s.made_counts[i] && s.ends[i] != FOVEA_END_NOT) EndText(g, i, s.ends[i]);
  }
  ++g.progress.steps;
  return kOk;
}

}  // namespace fovea
