#include "tools/eval/perplexity.h"

#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/cache.h"
#include "tools/base/fail.h"
#include "tools/eval/agreement.h"
#include "tools/eval/windows.h"
#include "tools/generate/defaults.h"
#include "tools/generate/generation.h"
#include "tools/measure/alternating_runs.h"
#include "tools/model/interrupt.h"
#include "tools/model/library_error.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

// Window for models without a maximum length.
constexpr uint32_t kUsualWindow = 2048;
// Maximum number of scores per run: with a large vocabulary a run has fewer rows.
constexpr size_t kMostScores = size_t{16} << 20;

TokenText TextOf(const Tokenizer& tokenizer, const std::string& text) {
  const Tokens tokens = tokenizer.EncodeWhole(text);
  TokenText made = {tokens.ids, std::vector<uint64_t>(tokens.ids.size())};
  uint64_t known = 0;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const uint64_t end = std::max<uint64_t>(known, tokens.end[i]);
    made.bytes[i] = end - known;
    known = end;
  }
  if (!made.bytes.empty()) made.bytes.back() += text.size() - known;
  return made;
}

// Runs a decoder over the windows of some texts.
class Foreteller {
 public:
  Foreteller(const Model& model, const PerplexityRequest& request);

  const std::vector<WindowStep>& steps() const { return steps_; }
  uint32_t width() const { return model_.Value(request_.program, scores_).width; }
  // Runs the next step; returns its seconds.
  double Run();
  size_t done() const { return done_; }
  // The scores of the last step.
  const Matrix& scores() const { return last_; }
  OrderedJson Json() const;

 private:
  void Begin();
  void Count(const WindowStep& step);

  const Model& model_;
  SessionRequest request_;
  bool keeps_ = false;
  uint32_t input_ = 0, scores_ = 0, tokens_ = 0;  // value, value, space
  size_t window_ = 0, stride_ = 0, texts_ = 0;
  std::vector<WindowStep> steps_;
  std::unique_ptr<Session> session_;
  size_t done_ = 0;
  Matrix last_;
  double nats_ = 0;
  uint64_t counted_ = 0, bytes_ = 0;
};

uint32_t Needed(const Model& model, uint32_t program, const std::string& name) {
  const auto value = model.FindValue(program, name);
  if (!value) Fail("{}: program {} has no value {}", model.name(), model.Program(program).name, name);
  return *value;
}

Foreteller::Foreteller(const Model& model, const PerplexityRequest& request) : model_(model) {
  keeps_ = model.HasProgram("verify");
  if (!ContinuesTexts(model) || !(keeps_ || model.HasProgram("score"))) {
    Fail("{}: has no program that scores every token of a text (score, verify); perplexity needs a decoder",
         model.name());
  }
  request_.program = model.FindProgram(keeps_ ? "verify" : "score");
  request_.workers = request.workers;
  if (keeps_) request_.cache_type = request.cache_type;
  input_ = Needed(model, request_.program, keeps_ ? MetadataOr(model, "generate.token", "input_ids") : "input_ids");
  scores_ = Needed(model, request_.program, keeps_ ? MetadataOr(model, "generate.scores", "logits") : "logits");
  tokens_ = model.Value(request_.program, input_).space;

  const uint32_t most = MaxTokens(model, request_.program);
  window_ = request.window != 0 ? request.window : most == UINT32_MAX ? kUsualWindow : most;
  if (window_ > most)
    Fail("{}: reads at most {} tokens, not windows of {}; give a smaller --max-length", model.name(), most, window_);
  if (window_ < 2) Fail("a window of {} token predicts nothing; give a larger --max-length", window_);
  stride_ = request.stride != 0 ? request.stride : std::max<size_t>(1, window_ / 2);
  if (stride_ > window_) Fail("--stride {} exceeds the window of {} tokens", stride_, window_);

  const Tokenizer tokenizer(model);
  std::vector<TokenText> texts;
  for (const std::string& text : request.texts) texts.push_back(TextOf(tokenizer, text));
  texts_ = texts.size();
  const bool alone = model.Space(tokens_).parent == FOVEA_NONE;  // a run reads one text
  const StepLimits limits = {alone ? 1 : request.batch_size,
                             std::clamp<size_t>(kMostScores / std::max(1u, width()), 1, request.rows), keeps_};
  steps_ = StepsOf(texts, window_, stride_, limits);
  if (steps_.empty()) Fail("{}: no text of two tokens or more", request.file);
}

// Creates a session for the largest steps and windows, and runs it once to warm up.
void Foreteller::Begin() {
  uint32_t windows = 1, rows = 1, longest = 1, context = 1, read = 0;
  for (const WindowStep& step : steps_) {
    const uint32_t most = *std::max_element(step.lengths.begin(), step.lengths.end());
    read = step.begins ? most : read + most;
    windows = std::max(windows, static_cast<uint32_t>(step.lengths.size()));
    rows = std::max(rows, static_cast<uint32_t>(step.ids.size()));
    longest = std::max(longest, most);
    context = std::max(context, read);
  }
  const uint32_t parent = model_.Space(tokens_).parent;
  request_.limits = {{tokens_, rows, parent == FOVEA_NONE ? 0 : longest}};
  if (parent != FOVEA_NONE) request_.limits.push_back({parent, windows, 0});
  for (uint32_t space = 0; keeps_ && space < model_.Info().space_count; ++space) {
    const uint64_t kept = uint64_t{windows} * context;
    if (kept > INT32_MAX)
      Fail("{}: {} windows of {} tokens exceed the size of a session", model_.name(), windows, context);
    if (model_.Space(space).is_cached != 0) request_.limits.push_back({space, static_cast<uint32_t>(kept), context});
  }
  session_ = std::make_unique<Session>(model_, request_);
  session_->SetSegments(tokens_, steps_[0].lengths);
  session_->SetInput(input_, steps_[0].ids);
  session_->Run();
}

double Foreteller::Run() {
  if (session_ == nullptr) Begin();
  const WindowStep& step = steps_[done_++];
  for (uint32_t text = 0; keeps_ && step.begins && text < session_->Info().cached_texts; ++text) {
    fovea_error error = {};
    Check(fovea_cache_rewind(session_->get(), text, 0, &error), error, model_.name());
  }
  session_->SetSegments(tokens_, step.lengths);
  session_->SetInput(input_, step.ids);
  const double seconds = SecondsToRun(*session_);
  last_ = session_->Output(scores_);
  Count(step);
  return seconds;
}

void Foreteller::Count(const WindowStep& step) {
  if (last_.rows != step.ids.size()) Fail("{}: {} rows for {} tokens", model_.name(), last_.rows, step.ids.size());
  bytes_ += step.bytes;
  for (uint32_t row = 0; row < last_.rows; ++row) {
    const int32_t target = step.targets[row];
    if (target < 0) continue;
    const float* scores = last_.Row(row);
    if (static_cast<uint32_t>(target) >= last_.width) Fail("{}: token {} has no score", model_.name(), target);
    const double most = *std::max_element(scores, scores + last_.width);
    double sum = 0;
    for (uint32_t i = 0; i < last_.width; ++i) sum += exp(scores[i] - most);
    nats_ += most + log(sum) - scores[target];
    ++counted_;
  }
}

OrderedJson Foreteller::Json() const {
  const double mean = nats_ / static_cast<double>(counted_);
  return {{"texts", texts_},
          {"window", window_},
          {"stride", stride_},
          {"tokens", counted_},
          {"text_bytes", bytes_},
          {"perplexity", exp(mean)},
          {"bits_per_token", mean / M_LN2},
          {"bits_per_byte", bytes_ == 0 ? NAN : nats_ / M_LN2 / static_cast<double>(bytes_)}};
}

void Compare(const Foreteller& first, const Foreteller& second, Agreement& agreement) {
  const WindowStep& step = first.steps()[first.done() - 1];
  for (uint32_t row = 0; row < first.scores().rows; ++row) {
    if (step.targets[row] < 0) continue;
    agreement.AddRow(first.scores().Row(row), second.scores().Row(row), first.width());
  }
}

}  // namespace

OrderedJson EvaluatePerplexity(const std::vector<const Model*>& models, const PerplexityRequest& request,
                               const ShowProgress& show) {
  std::vector<std::unique_ptr<Foreteller>> all;
  for (const Model* model : models) all.push_back(std::make_unique<Foreteller>(*model, request));
  Foreteller &a = *all.front(), &b = *all.back();
  const bool two = models.size() == 2;
  const bool alike = two && a.steps() == b.steps() && a.width() == b.width();
  Agreement agreement(true);
  AlternatingRuns turns;
  const size_t total = std::max(a.steps().size(), b.steps().size());
  size_t done = 0;
  for (; done < total && !Interrupt::Happened(); ++done) {
    show(done, total);
    const bool first = done < a.steps().size(), second = two && done < b.steps().size();
    const auto run_first = [&] { return a.Run(); };
    const auto run_second = [&] { return b.Run(); };
    if (first && second) {
      turns.RunBoth(run_first, run_second);
    } else {
      first ? turns.RunFirst(run_first) : turns.RunSecond(run_second);
    }
    if (alike) Compare(a, b, agreement);
  }
  OrderedJson told = {{"file", request.file}};
  if (done < total) told["interrupted"] = true;
  told["models"] = AboutBlobs(models);
  for (size_t i = 0; i < models.size() && done != 0; ++i) told["models"][i].update(all[i]->Json());
  if (!two || done == 0) return told;
  told["agreement"] = {{"outputs", agreement.Json()}};
  told["time"] = turns.Json(alike);
  return told;
}

}  // namespace fovea::tools
