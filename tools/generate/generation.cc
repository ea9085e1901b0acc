#include "tools/generate/generation.h"

#include <algorithm>
#include <sstream>

#include "fovea/text.h"
#include "tools/common/error.h"

namespace fovea::tools {
namespace {

std::string MetadataOr(const Model& model, const std::string& key, const std::string& absent) {
  const char* value = model.Metadata(key);
  return value == nullptr ? absent : value;
}

// An error about an entry of the metadata names its key and value.
void CheckGenerate(fovea_status status, const Model& model, fovea_error error) {
  const char *key = nullptr, *value = nullptr;
  const bool entry = status != FOVEA_OK && error.section != FOVEA_NOWHERE &&
                     fovea_model_metadata_at(model.get(), static_cast<uint32_t>(error.byte), &key, &value) == FOVEA_OK;
  if (!entry) return Check(status, error, "generate");
  error.section = FOVEA_NOWHERE;
  error.byte = 0;
  Check(status, error, fmt::format("{}: metadata {} is \"{}\"", model.name(), key, value));
}

bool EndsText(const Model& model, int32_t token) {
  std::istringstream stop_ids(MetadataOr(model, "generate.stop_ids", MetadataOr(model, "generate.end", "")));
  for (int32_t id; stop_ids >> id;) {
    if (id == token) return true;
  }
  return false;
}

bool HasLabels(const Model& model) { return model.Metadata("label.0") != nullptr; }

uint32_t AttentionStep(const Model& model, uint32_t program) {
  if (const char* name = model.Metadata("generate.alignment")) {
    if (const auto step = model.FindAttention(program, name)) return *step;
    Fail("{}: generate.alignment names no attention step of the decoder", model.name());
  }
  for (uint32_t step = 0; step < model.Program(program).step_count; ++step) {
    if (model.Step(program, step).heads != 0) return step;
  }
  Fail("{}: the decoder has no attention to align by", model.name());
}

class Generator {
 public:
  Generator(const Model& model, const Session& encode, const Session& decode, const GenerationRequest& request) {
    fovea_generate_options options = {};
    options.struct_size = sizeof(options);
    options.encode = encode.get();
    options.decode = decode.get();
    options.max_tokens = request.max_tokens;
    options.sampling = &request.sampling;
    fovea_error error = {};
    uint64_t size = 0;
    CheckGenerate(fovea_generate_size(&options, &size, &error), model, error);
    memory_ = Allocate(size);
    Check(fovea_generate_init(&options, memory_.get(), size, &generator_, &error), error, "generate");
    Check(fovea_generate_start(generator_, &error), error, "generate");
  }
  fovea_generated Next() {
    fovea_generated generated = {};
    generated.struct_size = sizeof(generated);
    fovea_error error = {};
    Check(fovea_generate_next(generator_, nullptr, &generated, &error), error, "generate");
    return generated;
  }

 private:
  Memory memory_;
  fovea_generator* generator_ = nullptr;
};

SessionRequest DecodeRequest(const Model& model, const Session& encode, const GenerationRequest& request) {
  SessionRequest decode;
  decode.program = model.FindProgram(MetadataOr(model, "generate.decode", "decode"));
  decode.workers = request.workers;
  decode.limits = encode.request().limits;
  uint32_t count = 0;
  fovea_error error = {};
  const fovea_status counted = fovea_generate_linked(model.get(), decode.program, nullptr, 0, &count, &error);
  if (counted != FOVEA_E_CAPACITY) CheckGenerate(counted, model, error);
  decode.linked.resize(count);
  CheckGenerate(fovea_generate_linked(model.get(), decode.program, decode.linked.data(), count, &count, &error), model,
                error);
  if (request.alignments) {
    decode.taps.push_back(TapOf(AttentionStep(model, decode.program)));
    decode.taps.back().reduce = FOVEA_REDUCE_MEAN;
  }
  return decode;
}

void AddAlignments(const Session& decode, const fovea_generated& step, std::vector<Generation>& generations) {
  const fovea_weights weights = decode.Weights(0);
  if (weights.rows != step.texts) Fail("the attention has {} rows for {} texts", weights.rows, step.texts);
  const std::vector<uint32_t> lengths = decode.Lengths(weights.key_space);
  for (uint32_t i = 0; i < step.texts; ++i) {
    if (step.tokens[i] < 0) continue;
    const float* row = weights.data + size_t{i} * weights.heads * weights.stride;
    generations[i].alignment.emplace_back(row, row + lengths[i]);
  }
}

void AddToken(const fovea_generated& step, uint32_t text, Generation* generation) {
  generation->tokens.push_back(step.tokens[text]);
  generation->scores.push_back(step.scores[text]);
  if (step.logprobs != nullptr) generation->logprobs.push_back(step.logprobs[text]);
  if (step.top_count == 0) return;
  std::vector<std::pair<int32_t, float>>& top = generation->top.emplace_back();
  for (size_t i = size_t{text} * step.top_count; i < size_t{text + 1} * step.top_count; ++i) {
    if (step.top_tokens[i] >= 0) top.emplace_back(step.top_tokens[i], step.top_logprobs[i]);
  }
}

std::string TextOf(const Model& model, std::vector<int32_t> tokens) {
  if (!tokens.empty() && EndsText(model, tokens.back())) tokens.pop_back();
  std::string text;
  if (HasLabels(model) || model.Info().has_text == 0) {
    for (const int32_t token : tokens) text += GeneratedPiece(model, token);
    return text;
  }
  uint64_t size = 16 * tokens.size() + 64;
  for (int turn = 0; turn < 2; ++turn) {
    text.resize(size);
    fovea_error error = {};
    const fovea_status status =
        fovea_text_decode(model.get(), tokens.data(), tokens.size(), 0, text.data(), text.size(), &size, &error);
    if (status == FOVEA_OK) break;
    if (status != FOVEA_E_CAPACITY || turn == 1) Check(status, error, "tokens to text");
  }
  text.resize(size);
  return text;
}

}  // namespace

std::string GeneratedPiece(const Model& model, int32_t token) {
  if (HasLabels(model)) return fovea_model_label(model.get(), static_cast<uint32_t>(token));
  if (model.Info().has_text == 0) return fmt::format("{} ", token);
  return Tokenizer(model).Piece(token);
}

std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& request) {
  const uint32_t program = model.FindProgram(MetadataOr(model, "generate.encode", "encode"));
  if (!model.FindValue(program, "input_ids"))
    Fail("{}: program {} has no input_ids", model.name(), model.Program(program).name);
  std::vector<Generation> generations(inputs.size());
  std::vector<Tokens> texts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    texts[i].ids = inputs[i];
    texts[i].types.resize(texts[i].ids.size());
    FillUp(model, program, &texts[i]);
    generations[i].input = texts[i].ids;
  }
  const Batch batch = BatchFromTokens(model, program, texts);
  SessionRequest encode_request;
  encode_request.program = program;
  encode_request.workers = request.workers;
  Session encode = SessionFor(model, batch, encode_request);
  encode.Run();

  const Session decode(model, DecodeRequest(model, encode, request));
  Generator generator(model, encode, decode, request);
  for (uint32_t left = static_cast<uint32_t>(inputs.size()); left > 0;) {
    const fovea_generated step = generator.Next();
    if (request.alignments) AddAlignments(decode, step, generations);
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (step.tokens[i] < 0) continue;
      AddToken(step, i, &generations[i]);
    }
    left = step.left;
  }
  for (Generation& generation : generations) generation.text = TextOf(model, generation.tokens);
  return generations;
}

}  // namespace fovea::tools
