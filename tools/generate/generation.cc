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
  Generator(const Model& model, const Session* encode, const Session& decode, const GenerationRequest& request) {
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
    Check(fovea_generate_start(generator_, &error), error, "generate");
  }
  // What texts begin with: both stay as they are until the first step.
  void SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths) {
    fovea_error error = {};
    Check(fovea_generate_prompts(generator_, tokens.data(), lengths.data(), static_cast<uint32_t>(lengths.size()), 0,
                                 &error),
          error, "prompts");
  }
  fovea_generated Next() {
    fovea_generated generated = Sized<fovea_generated>();
    fovea_error error = {};
    Check(fovea_generate_next(generator_, nullptr, &generated, &error), error, "generate");
    return generated;
  }

 private:
  Memory memory_;
  fovea_generator* generator_ = nullptr;
};

std::string EncodeName(const Model& model) { return MetadataOr(model, "generate.encode", "encode"); }

// New tokens that a run takes in at most: what more would gain is little, and memory grows with them.
constexpr size_t kMostNewTokens = 512;

// A session that keeps the texts, as long as they get.
SessionRequest ContinueRequest(const Model& model, const std::vector<std::vector<int32_t>>& prompts,
                               const GenerationRequest& request) {
  SessionRequest decode;
  decode.program = model.FindProgram(MetadataOr(model, "generate.decode", "decode"));
  decode.workers = request.workers;
  decode.cache_type = request.cache_type;
  size_t all = 0, longest = 0;
  for (const auto& prompt : prompts) all += prompt.size(), longest = std::max(longest, prompt.size());
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
  std::vector<std::vector<int32_t>> prompts;
  std::vector<int32_t> tokens;
  std::vector<uint32_t> lengths;
  for (const Generation& generation : generations) {
    prompts.push_back(generation.input);
    tokens.insert(tokens.end(), generation.input.begin(), generation.input.end());
    lengths.push_back(static_cast<uint32_t>(generation.input.size()));
  }
  const Session decode(model, ContinueRequest(model, prompts, request));
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
