#include "tools/generate/generation.h"

#include <algorithm>
#include <sstream>

#include "fovea/text.h"
#include "tools/common/error.h"
#include "tools/generate/generator.h"

namespace fovea::tools {
namespace {

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

std::string EncodeName(const Model& model) { return MetadataOr(model, "generate.encode", "encode"); }

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

bool ContinuesTexts(const Model& model) { return !model.HasProgram(EncodeName(model)); }

namespace {

// Steps until all texts have ended.
void RunSteps(const Session& decode, Generator& generator, const GenerationRequest& request,
              std::vector<Generation>& generations) {
  for (auto left = static_cast<uint32_t>(generations.size()); left > 0;) {
    const fovea_generated step = generator.Next();
    if (request.alignments) AddAlignments(decode, step, generations);
    for (uint32_t i = 0; i < step.texts; ++i) {
      if (step.tokens[i] < 0) continue;
      AddToken(step, i, &generations[i]);
    }
    left = step.left;
  }
}

void Translate(const Model& model, const GenerationRequest& request, std::vector<Generation>& generations) {
  const uint32_t program = model.FindProgram(EncodeName(model));
  if (!model.FindValue(program, "input_ids"))
    Fail("{}: program {} has no input_ids", model.name(), model.Program(program).name);
  std::vector<Tokens> texts(generations.size());
  for (size_t i = 0; i < generations.size(); ++i) {
    texts[i].ids = generations[i].input;
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
  Generator generator(model, &encode, decode, request);
  RunSteps(decode, generator, request, generations);
}

void Continue(const Model& model, const GenerationRequest& request, std::vector<Generation>& generations) {
  if (request.alignments) Fail("{}: there is no encoder whose tokens could be aligned", model.name());
  std::vector<int32_t> tokens;
  std::vector<uint32_t> lengths;
  for (const Generation& generation : generations) {
    tokens.insert(tokens.end(), generation.input.begin(), generation.input.end());
    lengths.push_back(static_cast<uint32_t>(generation.input.size()));
  }
  const Session decode(model, ContinueRequest(model, lengths, request));
  Generator generator(model, nullptr, decode, request);
  generator.SetPrompts(tokens, lengths);
  RunSteps(decode, generator, request, generations);
}

}  // namespace

std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& request) {
  std::vector<Generation> generations(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) generations[i].input = inputs[i];
  ContinuesTexts(model) ? Continue(model, request, generations) : Translate(model, request, generations);
  for (Generation& generation : generations) generation.text = TextOf(model, generation.tokens);
  return generations;
}

}  // namespace fovea::tools
