#include "tools/generate/generator.h"

#include <stdlib.h>

#include <algorithm>

#include "tools/common/error.h"

namespace fovea::tools {
namespace {

// New tokens that a run takes in at most: what more would gain is little, and memory grows with them.
constexpr size_t kMostNewTokens = 512;

}  // namespace

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent) {
  const char* value = model.Metadata(key);
  return value == nullptr ? absent : value;
}

void CheckGenerate(fovea_status status, const Model& model, fovea_error error) {
  const char *key = nullptr, *value = nullptr;
  const bool entry = status != FOVEA_OK && error.section != FOVEA_NOWHERE &&
                     fovea_model_metadata_at(model.get(), static_cast<uint32_t>(error.byte), &key, &value) == FOVEA_OK;
  if (!entry) return Check(status, error, "generate");
  error.section = FOVEA_NOWHERE;
  error.byte = 0;
  Check(status, error, fmt::format("{}: metadata {} is \"{}\"", model.name(), key, value));
}

Generator::Generator(const Model& model, const Session* encode, const Session& decode,
                     const GenerationRequest& request) {
  fovea_generate_options options = Sized<fovea_generate_options>();
  options.encode = encode == nullptr ? nullptr : encode->get();
  options.decode = decode.get();
  options.max_tokens = request.max_tokens;
  options.sampling = &request.sampling;
  const int32_t none = 0;  // of no tokens
  if (!request.stops) options.stop_ids = &none;
  fovea_error error = {};
  uint64_t size = 0;
  CheckGenerate(fovea_generate_size(&options, &size, &error), model, error);
  memory_ = Allocate(size);
  Check(fovea_generate_init(&options, memory_.get(), size, &generator_, &error), error, "generate");
  Start();
}

void Generator::Start() {
  fovea_error error = {};
  Check(fovea_generate_start(generator_, &error), error, "generate");
}

void Generator::SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths) {
  fovea_error error = {};
  Check(fovea_generate_prompts(generator_, tokens.data(), lengths.data(), static_cast<uint32_t>(lengths.size()), 0,
                               &error),
        error, "prompts");
}

fovea_generated Generator::Next() {
  fovea_generated generated = Sized<fovea_generated>();
  fovea_error error = {};
  Check(fovea_generate_next(generator_, nullptr, &generated, &error), error, "generate");
  return generated;
}

SessionRequest ContinueRequest(const Model& model, const std::vector<uint32_t>& prompts,
                               const GenerationRequest& request) {
  SessionRequest decode;
  decode.program = model.FindProgram(MetadataOr(model, "generate.decode", "decode"));
  decode.workers = request.workers;
  decode.cache_type = request.cache_type;
  size_t all = 0, longest = 0;
  for (const size_t prompt : prompts) all += prompt, longest = std::max(longest, prompt);
  const auto texts = static_cast<uint32_t>(prompts.size());
  const uint32_t tokens =
      model.Value(decode.program, *model.FindValue(decode.program, MetadataOr(model, "generate.token", "input_ids")))
          .space;
  const uint32_t most = model.Space(tokens).max_segment_rows;
  const std::string max_tokens = MetadataOr(model, "generate.max_tokens", "0");
  const uint64_t wanted = request.max_tokens != 0 ? request.max_tokens : strtoull(max_tokens.c_str(), nullptr, 10);
  uint64_t context = request.context;
  if (context == 0) context = wanted == 0 ? std::max<uint64_t>(2048, longest + 1) : longest + wanted;
  context = std::min<uint64_t>(context, most);
  if (longest > context) Fail("a prompt has {} tokens, texts have {} at most", longest, context);
  const auto rows = static_cast<uint32_t>(std::max<size_t>(texts, std::min(all, kMostNewTokens)));
  decode.limits = {{model.Space(tokens).parent, texts, 0}, {tokens, rows, 0}};
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).is_cached == 0) continue;
    decode.limits.push_back(
        {space, static_cast<uint32_t>(std::min<uint64_t>(texts * context, INT32_MAX)), static_cast<uint32_t>(context)});
  }
  return decode;
}

}  // namespace fovea::tools
