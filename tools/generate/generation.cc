#include "tools/generate/generation.h"

#include <algorithm>

#include "tools/generate/decoder_session.h"
#include "tools/generate/generator.h"
#include "tools/generate/room.h"
#include "tools/media/picture_inputs.h"
#include "tools/model/library_error.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

uint32_t AttentionStep(const Model& model, uint32_t program) {
  if (const char* name = model.Metadata("generate.alignment")) {
    if (const auto step = model.FindAttention(program, name)) return *step;
    Fail("{}: metadata generate.alignment names no attention operation of the decoder", model.name());
  }
  for (uint32_t step = 0; step < model.Program(program).step_count; ++step) {
    if (model.Step(program, step).heads != 0) return step;
  }
  Fail("{}: the decoder has no cross-attention; leave out --alignments", model.name());
}

// Collects the output of a generator, step by step.
class Writer {
 public:
  Writer(const Model& model, const GenerationRequest& request, const Session& decode, Generator& generator,
         std::vector<Generation>& generations)
      : model_(model), request_(request), decode_(decode), generator_(generator), generations_(generations) {}

  // Runs until all texts have ended or an interrupt.
  void Run() {
    stop_ids_ = StopIds(model_, request_);
    max_tokens_ = MaxTokens(model_, request_);
    request_.beams ? Search() : Write();
  }

 private:
  void Write() {
    std::vector<TextStream> streams;
    for (size_t i = 0; i < generations_.size(); ++i) {
      streams.emplace_back(model_, request_.stop_strings, request_.separator);
    }
    const auto show = [&](size_t i, const std::string& part) {
      generations_[i].text += part;
      if (request_.show && !part.empty()) request_.show(i, part);
    };
    for (size_t i = 0; i < generations_.size(); ++i) {
      if (request_.continues) streams[i].Follow(generations_[i].input);
      for (const int32_t token : request_.prefix) show(i, streams[i].Add(token));
    }
    for (size_t left = generations_.size(); left > 0;) {
      const std::optional<fovea_generated> step = generator_.Next();
      if (!step) break;
      if (request_.alignments) AddAlignments(*step);
      if (request_.after_step) request_.after_step(decode_, *step);
      left = 0;
      for (uint32_t i = 0; i < step->texts; ++i) {
        if (step->tokens[i] < 0 || streams[i].stopped()) continue;
        AddToken(*step, i);
        if (!EndsText(*step, i)) show(i, streams[i].Add(step->tokens[i]));
        if (step->ended[i] == 0 && !streams[i].stopped()) ++left;
        generations_[i].full = step->ends[i] == FOVEA_END_FULL && !streams[i].stopped();
      }
    }
    for (size_t i = 0; i < generations_.size(); ++i) show(i, streams[i].End());
  }

  void Search() {
    for (uint32_t left = 1; left > 0;) {
      const std::optional<fovea_generated> step = generator_.Next();
      left = step ? step->left : 0;
    }
    for (uint32_t i = 0; i < generations_.size(); ++i) {
      Generation& generation = generations_[i];
      for (uint32_t rank = 0; rank < request_.hypotheses; ++rank) {
        if (const auto found = generator_.Found(i, rank)) generation.hypotheses.push_back(TextOf(i, *found));
      }
      // Interrupted before a hypothesis was finished.
      if (generation.hypotheses.empty()) generation.hypotheses.push_back(TextOf(i, generator_.InTheMaking(i)));
      generation.tokens = generation.hypotheses[0].tokens;
      generation.text = generation.hypotheses[0].text;
      generation.full = !generation.tokens.empty() && EndsForLackOfRoom(generation.tokens);
    }
  }

  bool IsStop(int32_t token) const { return std::find(stop_ids_.begin(), stop_ids_.end(), token) != stop_ids_.end(); }
  static bool EndsText(const fovea_generated& step, uint32_t i) { return step.ends[i] == FOVEA_END_STOP; }

  bool EndsForLackOfRoom(const std::vector<int32_t>& tokens) const {
    const bool most = max_tokens_ != 0 && tokens.size() >= max_tokens_;
    return !most && !IsStop(tokens.back());
  }

  Hypothesis TextOf(size_t text, const fovea_hypothesis& found) const {
    Hypothesis hypothesis = {{found.tokens, found.tokens + found.count}, "", found.score, found.sum};
    TextStream stream(model_, {}, request_.separator);
    if (request_.continues) stream.Follow(generations_[text].input);
    for (const int32_t token : request_.prefix) hypothesis.text += stream.Add(token);
    for (size_t i = 0; i < hypothesis.tokens.size(); ++i) {
      const bool last = i + 1 == hypothesis.tokens.size();
      if (!last || !IsStop(hypothesis.tokens[i])) hypothesis.text += stream.Add(hypothesis.tokens[i]);
    }
    hypothesis.text += stream.End();
    return hypothesis;
  }

  // Rows of the attention map are the new tokens of a decoder with a KV cache, else the texts.
  void AddAlignments(const fovea_generated& step) {
    const fovea_attention_map weights = decode_.AttentionMap(0);
    const std::vector<uint32_t> lengths = decode_.Lengths(weights.key_space);
    std::vector<uint32_t> rows(step.texts, 1);
    const std::string token = MetadataOr(model_, "generate.token", "input_ids");
    const uint32_t program = decode_.request().program;
    const uint32_t space = model_.Value(program, *model_.FindValue(program, token)).space;
    if (model_.Space(space).parent != FOVEA_NONE) rows = decode_.Lengths(space);
    uint32_t end = 0;
    for (uint32_t i = 0; i < step.texts; ++i) {
      end += rows[i];
      if (step.tokens[i] < 0) continue;
      if (end > weights.rows) Fail("the attention map has {} rows for {} texts", weights.rows, step.texts);
      const float* row = weights.data + size_t{end - 1} * weights.heads * weights.stride;
      generations_[i].alignment.emplace_back(row, row + lengths[i]);
    }
  }

  void AddToken(const fovea_generated& step, uint32_t text) {
    Generation& generation = generations_[text];
    generation.tokens.push_back(step.tokens[text]);
    generation.scores.push_back(step.scores[text]);
    if (step.logprobs != nullptr) generation.logprobs.push_back(step.logprobs[text]);
    if (step.top_count == 0) return;
    std::vector<std::pair<int32_t, float>>& top = generation.top.emplace_back();
    for (size_t i = size_t{text} * step.top_count; i < size_t{text + 1} * step.top_count; ++i) {
      if (step.top_tokens[i] >= 0) top.emplace_back(step.top_tokens[i], step.top_logprobs[i]);
    }
  }

  const Model& model_;
  const GenerationRequest& request_;
  const Session& decode_;
  Generator& generator_;
  std::vector<Generation>& generations_;
  std::vector<int32_t> stop_ids_;
  uint32_t max_tokens_ = 0;
};

}  // namespace

void WriteTexts(const Model& model, const GenerationRequest& request, const Session& decode, Generator& generator,
                std::vector<Generation>& generations) {
  Writer(model, request, decode, generator, generations).Run();
}

namespace {

// Numbers the texts from request.number on.
void Run(const Model& model, const GenerationRequest& request, const GeneratorSessions& sessions,
         const std::vector<std::vector<int32_t>>& prompts, std::vector<Generation>& generations) {
  Generator generator(model, sessions, request, generations.size());
  // As in the original, the prompt of a decoder takes the place of the encoder's input.
  for (size_t i = 0; i < generations.size(); ++i) {
    generator.SetSource(i, sessions.encode == nullptr ? prompts[i] : generations[i].input);
  }
  std::vector<int32_t> tokens;
  std::vector<uint32_t> lengths;
  for (const std::vector<int32_t>& prompt : prompts) {
    tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    lengths.push_back(static_cast<uint32_t>(prompt.size()));
  }
  if (!prompts.empty()) generator.SetPrompts(tokens, lengths);
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < generations.size(); ++i) numbers.push_back(request.number + i);
  if (request.number != 0) generator.SetNumbers(numbers);
  WriteTexts(model, request, *sessions.decode, generator, generations);
}

// The encoder's batch of token ids; stores the padded inputs.
Batch SourceOf(const Model& model, std::vector<Generation>& generations) {
  const uint32_t program = SourceProgram(model);
  std::vector<Tokens> texts(generations.size());
  for (size_t i = 0; i < generations.size(); ++i) {
    texts[i].ids = generations[i].input;
    texts[i].types.resize(texts[i].ids.size());
    PadTokens(model, program, &texts[i]);
    generations[i].input = texts[i].ids;
  }
  return BatchFromTokens(model, program, texts);
}

// Generates from an encoder's outputs, each text after its prompt; without prompts, after the start token.
void Decode(const Model& model, const Session& encode, const std::vector<std::vector<int32_t>>& prompts,
            const GenerationRequest& request, std::vector<Generation>& generations) {
  if (request.draft != nullptr)
    Fail("{}: speculative decoding needs a decoder-only model; leave out --draft", model.name());
  size_t longest = 1;
  for (const std::vector<int32_t>& prompt : prompts) longest = std::max(longest, prompt.size());
  SessionRequest decode_request = DecodeRequest(model, encode, generations.size(), longest, request);
  if (request.alignments) {
    decode_request.taps.push_back(TapOf(AttentionStep(model, decode_request.program)));
    decode_request.taps.back().reduce = FOVEA_REDUCE_MEAN;
  }
  decode_request.taps.insert(decode_request.taps.end(), request.taps.begin(), request.taps.end());
  const Session decode(model, decode_request);
  Run(model, request, {&decode, &encode}, prompts, generations);
}

// `texts` prompts of the start token and request.prefix.
std::vector<std::vector<int32_t>> PrefixedPrompts(const Model& model, const GenerationRequest& request, size_t texts) {
  if (request.prefix.empty()) return {};
  const std::optional<int32_t> start = request.start ? request.start : DefaultsOf(model).start,
                               first = request.first ? request.first : DefaultsOf(model).first;
  std::vector<int32_t> prompt = request.prefix;
  if (first) prompt.insert(prompt.begin(), *first);
  if (start) prompt.insert(prompt.begin(), *start);
  return std::vector<std::vector<int32_t>>(texts, prompt);
}

// Whether a decoder has a KV cache, so that texts can begin with prompts.
bool KeepsTexts(const Model& model) {
  for (uint32_t space = 0; space < model.Info().space_count; ++space) {
    if (model.Space(space).is_cached != 0) return true;
  }
  return false;
}

// Removes the first tokens, which were forced.
void DropFirst(size_t count, Generation* generation) {
  const auto drop = [&](auto* list) {
    list->erase(list->begin(), list->begin() + static_cast<ptrdiff_t>(std::min(count, list->size())));
  };
  drop(&generation->tokens);
  drop(&generation->scores);
  drop(&generation->logprobs);
  drop(&generation->top);
  drop(&generation->alignment);
}

// Generates with the beginning that the request sets. Without support for prompts it is forced token by token.
void DecodeRequested(const Model& model, const Session& encode, const GenerationRequest& request,
                     std::vector<Generation>& generations) {
  GenerationRequest begun = request;
  std::vector<int32_t> first;
  const std::vector<std::vector<int32_t>> prompts =
      KeepsTexts(model) ? PrefixedPrompts(model, request, generations.size()) : std::vector<std::vector<int32_t>>();
  if (prompts.empty() && (!request.prefix.empty() || !request.forced.empty())) {
    const std::optional<int32_t> token = request.first ? request.first : DefaultsOf(model).first;
    if (token) first.push_back(*token);
    first.insert(first.end(), request.prefix.begin(), request.prefix.end());
    begun.prefix.clear();
    begun.forced.resize(generations.size());
    for (std::vector<int32_t>& forced : begun.forced) forced.insert(forced.begin(), first.begin(), first.end());
    begun.max_tokens = MaxTokens(model, request);
    if (begun.max_tokens != 0) begun.max_tokens += static_cast<uint32_t>(first.size());
  }
  if (!first.empty() && request.beams)
    Fail("{}: beam search needs a decoder with a KV cache; leave out --beams", model.name());
  Decode(model, encode, prompts, begun, generations);
  for (Generation& generation : generations) DropFirst(first.size(), &generation);
}

void Continue(const Model& model, const GenerationRequest& given, std::vector<Generation>& generations) {
  GenerationRequest request = given;
  request.continues = true;
  if (request.alignments) Fail("{}: alignments need an encoder; leave out --alignments", model.name());
  std::vector<std::vector<int32_t>> prompts;
  std::vector<uint32_t> lengths;
  for (const Generation& generation : generations) {
    prompts.push_back(generation.input);
    prompts.back().insert(prompts.back().end(), request.prefix.begin(), request.prefix.end());
    lengths.push_back(static_cast<uint32_t>(prompts.back().size()));
  }
  const SessionRequest decode_request = ContinueRequest(model, lengths, request);
  const uint32_t longest = *std::max_element(lengths.begin(), lengths.end());
  const uint64_t room = ContextOf(model, request, longest) - longest + 1;  // the last token is not read
  const bool narrow = request.beams && MaxTokens(model, request) > room;
  if (narrow) request.max_tokens = static_cast<uint32_t>(room);
  const Session decode(model, decode_request);
  std::optional<Session> draft;
  if (request.draft != nullptr) {
    draft.emplace(*request.draft, DraftRequest(*request.draft, model, decode_request, prompts.size()));
  }
  Run(model, request, {&decode, nullptr, draft ? &*draft : nullptr}, prompts, generations);
  const std::vector<int32_t> ends = StopIds(model, request);
  for (Generation& generation : generations) {
    const std::vector<int32_t>& made = generation.tokens;
    const bool ended = made.empty() || std::find(ends.begin(), ends.end(), made.back()) != ends.end();
    if (narrow && made.size() >= room && !ended) generation.full = true;
  }
}

// Adds the request's settings for a search.
GenerationRequest Completed(const Model& model, GenerationRequest request) {
  if (!request.forced.empty() && request.draft != nullptr) Fail("forced tokens cannot be combined with a draft model");
  if (request.draft != nullptr && !request.rules.none()) {
    Fail(
        "forbidden tokens and a least number of tokens, by options or the model's own settings, cannot be combined "
        "with a draft model; leave out --draft");
  }
  if (request.beams) {
    if (request.alignments) Fail("--alignments is not supported with beam search; leave out --beams");
    if (!request.stop_strings.empty()) Fail("--stop is not supported with beam search; leave out --beams");
    if (request.max_tokens == 0 && DefaultsOf(model).max_tokens == 0) request.max_tokens = kUsualMaxTokens;
  }
  return request;
}

}  // namespace

bool ContinuesTexts(const Model& model) {
  const auto programs = FindGeneratePrograms(model);
  return programs && !programs->encode;
}

uint32_t EncoderProgram(const Model& model) {
  const auto programs = FindGeneratePrograms(model);
  return programs && programs->encode ? *programs->encode : model.FindProgram("encode");
}

uint32_t SourceProgram(const Model& model) {
  const uint32_t program = EncoderProgram(model);
  if (!model.FindValue(program, "input_ids")) {
    if (FindPictureInput(model, program)) Fail("{}: its encoder reads images; give --image", model.name());
    Fail("{}: program {} has no input_ids", model.name(), model.Program(program).name);
  }
  return program;
}

std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& given) {
  const GenerationRequest request = Completed(model, given);
  std::vector<Generation> generations(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) generations[i].input = inputs[i];
  if (ContinuesTexts(model)) {
    Continue(model, request, generations);
  } else {
    const Session encode = Encode(model, SourceOf(model, generations), request.workers);
    DecodeRequested(model, encode, request, generations);
  }
  return generations;
}

Session Encode(const Model& model, const Batch& source, uint32_t workers) {
  SessionRequest request;
  request.program = EncoderProgram(model);
  request.workers = workers;
  Session encode = SessionFor(model, source, request);
  encode.Run();
  return encode;
}

std::vector<Generation> Generate(const Model& model, const Session& encode,
                                 const std::vector<std::vector<int32_t>>& prompts, const GenerationRequest& given) {
  const GenerationRequest request = Completed(model, given);
  std::vector<Generation> generations(prompts.size());
  const bool told = std::any_of(prompts.begin(), prompts.end(), [](const auto& prompt) { return !prompt.empty(); });
  if (told) {
    Decode(model, encode, prompts, request, generations);
  } else {
    DecodeRequested(model, encode, request, generations);
  }
  return generations;
}

}  // namespace fovea::tools
