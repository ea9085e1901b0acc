#include "tools/generate/generator.h"

#include <algorithm>

#include "tools/model/interrupt.h"
#include "tools/model/library_error.h"

namespace fovea::tools {

void CheckGenerate(fovea_status status, const Model& model, fovea_error error) {
  const char *key = nullptr, *value = nullptr;
  const bool entry =
      status != FOVEA_OK && error.section != FOVEA_NOWHERE &&
      fovea_model_get_metadata(model.get(), static_cast<uint32_t>(error.index), &key, &value) == FOVEA_OK;
  if (!entry) return Check(status, error, "generate");
  error.section = FOVEA_NOWHERE;
  error.index = 0;
  Check(status, error, fmt::format("{}: metadata {} is \"{}\"", model.name(), key, value));
}

uint32_t MaxTokens(const Model& model, const GenerationRequest& request) {
  return request.max_tokens != 0 ? request.max_tokens : DefaultsOf(model).max_tokens;
}

std::vector<int32_t> StopIds(const Model& model, const GenerationRequest& request) {
  std::vector<int32_t> ids = request.stops ? DefaultsOf(model).stop_ids : std::vector<int32_t>();
  for (const int32_t id : request.ends) {
    if (request.stops && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

namespace {

// With sampling and end-of-text tokens, which must outlive the result.
fovea_generate_options OptionsOf(const Model& model, const GeneratorSessions& sessions,
                                 const GenerationRequest& request, const fovea_sampling* sampling,
                                 const std::vector<int32_t>& stop_ids) {
  static constexpr int32_t kNone = 0;  // points to no tokens
  fovea_generate_options options = Sized<fovea_generate_options>();
  options.encode = sessions.encode == nullptr ? nullptr : sessions.encode->get();
  options.decode = sessions.decode->get();
  options.draft = sessions.draft == nullptr ? nullptr : sessions.draft->get();
  options.draft_tokens = sessions.draft == nullptr ? 0 : request.draft_tokens;
  options.max_tokens = MaxTokens(model, request);
  options.sampling = sampling;
  options.beams = request.beams ? &*request.beams : nullptr;
  options.start = request.start ? &*request.start : nullptr;
  if (request.stops && request.ends.empty()) return options;  // the library reads the metadata
  options.stop_ids = stop_ids.empty() ? &kNone : stop_ids.data();
  options.stop_id_count = static_cast<uint32_t>(stop_ids.size());
  return options;
}

uint64_t BytesOf(const Model& model, const fovea_generate_options& options) {
  fovea_error error = {};
  uint64_t size = 0;
  CheckGenerate(fovea_generate_size(&options, &size, &error), model, error);
  return size;
}

}  // namespace

uint64_t GeneratorBytes(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request) {
  const std::vector<int32_t> stop_ids = StopIds(model, request);
  return BytesOf(model, OptionsOf(model, sessions, request, &request.sampling, stop_ids));
}

Generator::Generator(const Model& model, const GeneratorSessions& sessions, const GenerationRequest& request,
                     size_t texts)
    : request_(request),
      defaults_(DefaultsOf(model)),
      stop_ids_(StopIds(model, request)),
      sessions_(sessions),
      max_tokens_(MaxTokens(model, request)),
      forced_(texts),
      texts_(texts),
      sources_(texts) {
  fovea_sampling sampling = request.sampling;
  sampling.allow_context = this;
  if (!request.rules.none()) sampling.allow = Allow;
  if (request.allow_scored) sampling.allow_scored = AllowScored;
  const fovea_generate_options options = OptionsOf(model, sessions, request_, &sampling, stop_ids_);
  const uint64_t size = BytesOf(model, options);
  fovea_error error = {};
  memory_ = Allocate(size);
  Check(fovea_generate_init(&options, memory_.get(), size, &generator_, &error), error, "generate");
  Interrupt::Watch(options.decode, options.draft);
  Start();
}

Generator::~Generator() { Interrupt::Watch(nullptr, nullptr); }

void Generator::Start() {
  fovea_error error = {};
  Check(fovea_generate_start(generator_, &error), error, "generate");
  steps_ = 0;
  prompted_ = false;
  const std::optional<int32_t> start = request_.start ? request_.start : defaults_.start;
  for (size_t i = 0; i < texts_.size(); ++i) {
    texts_[i].clear();
    if (start) texts_[i].push_back(*start);
  }
}

void Generator::SetPrompts(const std::vector<int32_t>& tokens, const std::vector<uint32_t>& lengths, bool keep) {
  fovea_error error = {};
  Check(fovea_generate_set_prompts(generator_, tokens.data(), lengths.data(), static_cast<uint32_t>(lengths.size()),
                                   keep ? 1 : 0, &error),
        error, "prompts");
  prompted_ = true;
  auto at = tokens.begin();
  for (size_t i = 0; i < lengths.size(); ++i) {
    texts_[i].assign(at, at + lengths[i]);
    at += lengths[i];
  }
}

void Generator::SetSource(size_t text, const std::vector<int32_t>& tokens) { sources_[text] = tokens; }

void Generator::SetNumbers(const std::vector<uint64_t>& numbers) {
  fovea_error error = {};
  Check(fovea_generate_set_sequences(generator_, numbers.data(), static_cast<uint32_t>(numbers.size()), &error), error,
        "numbers of texts");
}

const int32_t* Generator::Forced() {
  if (sessions_.draft != nullptr) return nullptr;
  std::optional<int32_t> token;
  if (steps_ == 0 && !prompted_) token = request_.first ? request_.first : defaults_.first;
  if (max_tokens_ != 0 && steps_ + 1 == max_tokens_ && request_.stops) token = defaults_.last;
  forced_.assign(forced_.size(), token.value_or(-1));
  bool any = token.has_value();
  for (size_t i = 0; i < request_.forced.size(); ++i) {
    if (steps_ >= request_.forced[i].size()) continue;
    forced_[i] = request_.forced[i][steps_];
    any = true;
  }
  return any ? forced_.data() : nullptr;
}

std::optional<fovea_generated> Generator::Next() {
  if (Interrupt::Happened()) return std::nullopt;
  fovea_generated generated = Sized<fovea_generated>();
  fovea_error error = {};
  const fovea_status status = fovea_generate_next(generator_, Forced(), &generated, &error);
  if (status == FOVEA_E_CANCELLED && Interrupt::Happened()) return std::nullopt;
  Check(status, error, "generate");
  ++steps_;
  for (uint32_t i = 0; i < generated.texts && !request_.beams; ++i) {
    if (generated.tokens[i] >= 0) texts_[i].push_back(generated.tokens[i]);
  }
  return generated;
}

std::optional<fovea_hypothesis> Generator::Found(uint32_t text, uint32_t rank) const {
  fovea_hypothesis hypothesis = Sized<fovea_hypothesis>();
  fovea_error error = {};
  const fovea_status status = fovea_generate_get_hypothesis(generator_, text, rank, &hypothesis, &error);
  if (status == FOVEA_E_INDEX) return std::nullopt;
  Check(status, error, "hypotheses");
  return hypothesis;
}

fovea_hypothesis Generator::InTheMaking(uint32_t text) const {
  fovea_hypothesis hypothesis = Sized<fovea_hypothesis>();
  fovea_error error = {};
  Check(fovea_generate_get_beam(generator_, text * request_.beams->width, &hypothesis, &error), error, "beams");
  return hypothesis;
}

std::vector<int32_t> Generator::TextOf(uint32_t row) const {
  if (!request_.beams) return texts_[row];
  fovea_hypothesis beam = Sized<fovea_hypothesis>();
  fovea_error error = {};
  std::vector<int32_t> text = texts_[row / request_.beams->width];
  if (fovea_generate_get_beam(generator_, row, &beam, &error) == FOVEA_OK) {
    text.insert(text.end(), beam.tokens, beam.tokens + beam.count);
  }
  return text;
}

void Generator::Allow(void* generator, uint32_t row, uint32_t step, uint32_t tokens, uint32_t* words) {
  const Generator& g = *static_cast<const Generator*>(generator);
  const uint32_t beams = g.request_.beams ? g.request_.beams->width : 1;
  ApplyRules(g.request_.rules, g.request_.ends.empty() ? g.defaults_.stop_ids : g.stop_ids_,
             {g.sources_[row / beams], g.TextOf(row), step}, tokens, words);
}

void Generator::AllowScored(void* generator, uint32_t row, uint32_t step, uint32_t tokens, const float* scores,
                            uint32_t* words) {
  const Generator& g = *static_cast<const Generator*>(generator);
  const uint32_t beams = g.request_.beams ? g.request_.beams->width : 1;
  const std::vector<int32_t> text = g.TextOf(row);
  g.request_.allow_scored({row / beams, text.data() + text.size() - step, step, scores}, tokens, words);
}

}  // namespace fovea::tools
