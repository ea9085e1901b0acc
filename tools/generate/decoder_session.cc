#include "tools/generate/decoder_session.h"

#include <algorithm>

#include "tools/generate/generator.h"
#include "tools/generate/room.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

// Most new tokens per run (prefill chunk): larger chunks gain little, and memory grows with them.
constexpr size_t kMostNewTokens = 512;

// The space of the decoder's new tokens.
uint32_t TokenSpaceOf(const Model& model, uint32_t program) {
  const std::string name = MetadataOr(model, "generate.token", "input_ids");
  const auto token = model.FindValue(program, name);
  if (!token) Fail("{}: program {} has no value {}", model.name(), model.Program(program).name, name);
  return model.Value(program, *token).space;
}

bool HasLimit(const SessionRequest& request, uint32_t space) {
  return std::any_of(request.limits.begin(), request.limits.end(),
                     [&](const fovea_limit& limit) { return limit.space == space; });
}

// Rows of a decoder with a KV cache: `rows` beams or texts, `new_tokens` tokens per run, a context of `context` tokens.
struct KeptRows {
  size_t rows, new_tokens;
  uint64_t context;
};

void AddLimits(const Model& model, const KeptRows& kept, SessionRequest* request) {
  const auto count = [](uint64_t rows) { return static_cast<uint32_t>(std::min<uint64_t>(rows, INT32_MAX)); };
  const auto add = [&](uint32_t space, uint64_t rows, uint64_t segment) {
    if (!HasLimit(*request, space)) request->limits.push_back({space, count(rows), count(segment)});
  };
  const uint32_t tokens = TokenSpaceOf(model, request->program);
  add(model.Space(tokens).parent, kept.rows, 0);
  add(tokens, std::max(kept.rows, std::min(kept.new_tokens, std::max(kMostNewTokens, kept.rows))), 0);
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).is_cached != 0) add(space, kept.rows * kept.context, kept.context);
  }
}

// Adds limits for the encoder's outputs, which the decoder reads in a separate space.
void AddSources(const Model& model, const Session& encode, SessionRequest* decode) {
  const uint32_t program = encode.request().program;
  for (const uint32_t input : decode->linked) {
    const fovea_value_info info = model.Value(decode->program, input);
    const auto output = model.FindValue(program, MetadataOr(model, fmt::format("generate.link.{}", info.name), ""));
    if (!output || model.Space(info.space).is_input == 0 || HasLimit(*decode, info.space)) continue;
    uint32_t rows = 0, longest = 1;
    for (const uint32_t length : encode.Lengths(model.Value(program, *output).space)) {
      rows += length, longest = std::max(longest, length);
    }
    decode->limits.push_back({info.space, std::max(1u, rows), longest});
  }
}

}  // namespace

std::optional<GeneratePrograms> FindGeneratePrograms(const Model& model) {
  uint32_t decode = 0, encode = 0;
  fovea_error error{};
  const fovea_status status = fovea_generate_find_programs(model.get(), &decode, &encode, &error);
  if (status == FOVEA_E_NAME) return std::nullopt;
  Check(status, error, model.name());
  return GeneratePrograms{decode, encode == FOVEA_NONE ? std::nullopt : std::optional<uint32_t>(encode)};
}

uint32_t DecodeProgram(const Model& model) {
  if (const auto programs = FindGeneratePrograms(model)) return programs->decode;
  Fail(
      "{}: does not generate text: it has no program '{}'; fovea run prints its results, fovea transcribe the text of "
      "sounds",
      model.name(), MetadataOr(model, "generate.decode", "decode"));
}

uint32_t ScoredTokens(const Model& model) {
  const uint32_t program = DecodeProgram(model);
  const auto scores = model.FindValue(program, MetadataOr(model, "generate.scores", ""));
  return scores ? model.Value(program, *scores).width : 0;
}

SessionRequest ContinueRequest(const Model& model, const std::vector<uint32_t>& prompts,
                               const GenerationRequest& request) {
  SessionRequest decode;
  if (request.draft != nullptr && !model.HasProgram("verify")) {
    Fail("{}: has no program verify, which speculative decoding needs; convert the model again", model.name());
  }
  decode.program = request.draft != nullptr ? model.FindProgram("verify") : DecodeProgram(model);
  decode.workers = request.workers;
  decode.cache_type = request.cache_type;
  size_t all = 0, longest = 0;
  for (const size_t prompt : prompts) all += prompt, longest = std::max(longest, prompt);
  const size_t width = request.beams ? request.beams->width : 1, rows = prompts.size() * width;
  const uint64_t context = ContextOf(model, request, longest);
  CheckPrompt(longest, context);
  if (request.draft != nullptr) {
    decode.rewind_rows = request.draft_tokens + 1;  // the drafted tokens and the one before them
    all = std::max(all, prompts.size() * decode.rewind_rows);
  }
  AddLimits(model, {rows, all, context}, &decode);
  return decode;
}

SessionRequest DraftRequest(const Model& draft, const Model& model, const SessionRequest& decode, size_t texts) {
  SessionRequest request;
  request.program = DecodeProgram(draft);
  request.workers = decode.workers;
  request.cache_type = decode.cache_type;
  request.rewind_rows = decode.rewind_rows;
  const uint32_t tokens = TokenSpaceOf(model, decode.program);
  KeptRows kept = {texts, 2 * texts, 0};
  for (const fovea_limit& limit : decode.limits) {
    if (limit.space == tokens) kept.new_tokens = std::max<size_t>(kept.new_tokens, limit.rows);
    if (model.Space(limit.space).is_cached != 0) kept.context = limit.segment_rows;
  }
  kept.context = std::min<uint64_t>(kept.context, draft.Space(TokenSpaceOf(draft, request.program)).max_segment_rows);
  AddLimits(draft, kept, &request);
  return request;
}

SessionRequest DecodeRequest(const Model& model, const Session& encode, size_t texts, size_t longest,
                             const GenerationRequest& request) {
  SessionRequest decode;
  decode.program = DecodeProgram(model);
  decode.workers = request.workers;
  decode.cache_type = request.cache_type;
  for (const fovea_limit& limit : encode.request().limits) {
    if (model.Space(limit.space).is_cached == 0) decode.limits.push_back(limit);
  }
  uint32_t count = 0;
  fovea_error error = {};
  const fovea_status counted = fovea_generate_get_linked(model.get(), decode.program, nullptr, 0, &count, &error);
  if (counted != FOVEA_E_CAPACITY) CheckGenerate(counted, model, error);
  decode.linked.resize(count);
  CheckGenerate(fovea_generate_get_linked(model.get(), decode.program, decode.linked.data(), count, &count, &error),
                model, error);
  AddSources(model, encode, &decode);
  const uint32_t tokens = TokenSpaceOf(model, decode.program);
  if (HasLimit(decode, tokens)) return decode;  // the decoder has no KV cache
  const size_t width = request.beams ? request.beams->width : 1;
  const uint64_t wanted = MaxTokens(model, request);
  uint64_t context = request.context != 0 ? request.context : longest + (wanted == 0 ? kUsualMaxTokens : wanted);
  context = std::min<uint64_t>(context, model.Space(tokens).max_segment_rows);
  if (longest >= context) Fail("prompts have up to {} tokens, and the context has only {}", longest, context);
  AddLimits(model, {texts * width, texts * longest, context}, &decode);
  return decode;
}

}  // namespace fovea::tools
