// Feeds the decoder in a step: the last token of each text, or its prompt.
#include <string.h>

#include <algorithm>

#include "runtime/generate/generate.h"

namespace fovea {
namespace {

// Number of tokens in a row of the texts' space that the decoder has not read yet. A prompt is read once, and the
// text's beams are forked from it.
uint32_t Waiting(const Generator& g, uint32_t row) {
  const uint32_t text = row / g.width;
  if (g.progress.steps != 0) return g.progress.ended[text] != 0 || (g.has_beams() && !g.beams.IsAlive(row)) ? 0 : 1;
  if (row % g.width != 0) return 0;
  return (g.prompts.tokens == nullptr ? 1 : g.prompts.lengths[text]) - g.prompts.taken[text];
}

// Decides how many tokens of each text the next run reads: all if there is room. Otherwise as many as fit without the
// last token of each text, so that all scores come from one run, the last. Returns whether the next run is the last.
bool ShareRoom(const Generator& g) {
  const SpaceState& space = g.decode->spaces[g.token_space()];
  uint64_t all = 0;
  bool fits = true;
  for (uint32_t i = 0; i < g.rows(); ++i) {
    g.prompts.run_lengths[i] = Waiting(g, i);
    all += g.prompts.run_lengths[i];
    fits = fits && g.prompts.run_lengths[i] <= space.max_segment_rows;
  }
  if (fits && all <= space.max_rows) return true;
  uint32_t room = space.max_rows;
  for (uint32_t i = 0; i < g.rows(); i += g.width) {
    g.prompts.run_lengths[i] = std::min({g.prompts.run_lengths[i] - 1, space.max_segment_rows, room});
    room -= g.prompts.run_lengths[i];
  }
  return false;
}

// Writes the tokens of the run, one text after the other.
void WriteTokens(const Generator& g) {
  int32_t* to = reinterpret_cast<int32_t*>(g.decode->values[g.settings.token]);
  const int32_t* prompt = g.prompts.tokens;
  for (uint32_t i = 0; i < g.rows(); ++i) {
    const bool from_prompt = g.progress.steps == 0 && prompt != nullptr && i % g.width == 0;
    const int32_t* from = from_prompt ? prompt + g.prompts.taken[i / g.width] : g.progress.last + i;
    to = std::copy_n(from, g.prompts.run_lengths[i], to);
    if (from_prompt) prompt += g.prompts.lengths[i / g.width];
  }
}

Status RunDecoder(Session& decode, Reporter& reporter) {
  FOVEA_TRY(BeginRun(decode, reporter));
  uint32_t left = 0;
  return AdvanceRun(decode, UINT32_MAX, &left, reporter);
}

}  // namespace

Status TakePrompts(Generator& g, const int32_t* tokens, const uint32_t* lengths, uint32_t count, bool keep,
                   Reporter& reporter) {
  Session& decode = *g.decode;
  if (!g.progress.started)
    return reporter.Fail(FOVEA_E_ORDER, "generation has not started: call fovea_generate_start first");
  if (g.progress.steps != 0) return reporter.Fail(FOVEA_E_ORDER, "a prompt must be given before the first step");
  if (!g.keeps_texts()) return reporter.Fail(FOVEA_E_OPTION, "the decoder has no KV cache, so it cannot read a prompt");
  if (g.settings.link_count != 0 && count != g.progress.texts) {
    return reporter.Fail(FOVEA_E_LENGTH, "each text of the encoder needs a prompt", g.progress.texts, count);
  }
  const uint32_t most = std::min(decode.spaces[g.token_space()].max_segments, decode.cache.texts) / g.width;
  if (count > most)
    return reporter.Fail(FOVEA_E_SEGMENTS, "there are more prompts than the session has texts", most, count);
  if (count != 0 && (tokens == nullptr || lengths == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "tokens or lengths is NULL");
  }
  const uint32_t limit = decode.model->id_limits[decode.program().first_value + g.settings.token];
  uint64_t at = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (lengths[i] == 0) return reporter.Fail(FOVEA_E_LENGTH, "a prompt is empty", 1, 0, i);
    for (uint32_t k = 0; k < lengths[i]; ++k, ++at) {
      if (limit == 0 || static_cast<uint32_t>(tokens[at]) < limit) continue;
      return reporter.Fail(FOVEA_E_ID, "a prompt's token is outside the embedding table", limit,
                           static_cast<uint32_t>(tokens[at]), at);
    }
  }
  BeginTexts(g, count);
  g.prompts.tokens = tokens;
  g.prompts.lengths = lengths;
  g.prompts.keeps = keep;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < lengths[i]; ++k) MarkSeen(g, i, *tokens++);
  }
  return g.speculation.draft == nullptr ? kOk : BeginSpeculation(g, reporter);
}

Status Feed(Generator& g, Reporter& reporter) {
  Session& decode = *g.decode;
  FOVEA_TRY(CheckIdle(decode, reporter));
  if (!g.keeps_texts()) {
    if (g.progress.texts != 0) memcpy(decode.values[g.settings.token], g.progress.last, g.rows() * sizeof(int32_t));
    return RunDecoder(decode, reporter);
  }
  if (g.progress.steps == 0 && g.prompts.tokens == nullptr && g.settings.start < 0) {
    return reporter.Fail(FOVEA_E_ORDER, "the texts have neither a prompt nor a start token");
  }
  if (decode.spaces[g.token_space()].max_rows < g.rows()) {
    return reporter.Fail(FOVEA_E_ROWS, "the session's limit is below one token per text",
                         decode.spaces[g.token_space()].max_rows, g.rows());
  }
  FOVEA_TRY(SelectTexts(decode, nullptr, g.rows(), reporter));
  for (uint32_t i = 0; i < g.rows() && g.progress.steps == 0 && !g.prompts.keeps; ++i) {
    if (g.prompts.taken[i / g.width] == 0) ReleaseText(decode.cache, i);
  }
  const auto at = [](const void* lengths, uint32_t i) -> uint64_t { return static_cast<const uint32_t*>(lengths)[i]; };
  for (bool last = false; !last;) {
    last = ShareRoom(g);
    FOVEA_TRY(SetSegments(decode, g.token_space(), {at, g.prompts.run_lengths, g.rows()}, reporter));
    WriteTokens(g);
    FOVEA_TRY(RunDecoder(decode, reporter));
    for (uint32_t i = 0; i < g.progress.texts; ++i) g.prompts.taken[i] += g.prompts.run_lengths[i * g.width];
  }
  return kOk;
}

Status ReadTokens(Generator& g, const int32_t* tokens, uint32_t stride, Reporter& reporter) {
  Session& decode = *g.decode;
  const auto at = [](const void* lengths, uint32_t i) -> uint64_t { return static_cast<const uint32_t*>(lengths)[i]; };
  FOVEA_TRY(SelectTexts(decode, nullptr, g.progress.texts, reporter));
  FOVEA_TRY(SetSegments(decode, g.token_space(), {at, g.prompts.run_lengths, g.progress.texts}, reporter));
  int32_t* to = reinterpret_cast<int32_t*>(decode.values[g.settings.token]);
  for (uint32_t i = 0; i < g.progress.texts; ++i)
    to = std::copy_n(tokens + size_t{i} * stride, g.prompts.run_lengths[i], to);
  return RunDecoder(decode, reporter);
}

}  // namespace fovea
