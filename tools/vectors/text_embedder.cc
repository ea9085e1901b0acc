#include "tools/vectors/text_embedder.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/prediction/embeddings.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"
#include "tools/prediction/word_weights.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {

TextEmbedder::TextEmbedder(const Model& model, const EmbedderOptions& options)
    : model_(model), options_(options), program_(FindTextProgram(model, options.program)), tokenizer_(model) {
  if (const std::optional<uint32_t> rows = FindTokenEmbeddings(model, program_)) {
    if (options.dimensions != 0) Fail("{}: makes a vector for each token; leave out --dimensions", model.name());
    of_tokens_ = true;
    width_ = model.Value(program_, *rows).width;
    return;
  }
  of_words_ = options.words && TaskOf(model, program_) == OutputTask::kMaskedWords;
  if (!of_words_) CheckEmbeds(model, program_);
  if (of_words_ && options.dimensions != 0) Fail("{}: makes no embeddings; leave out --dimensions", model.name());
  width_ = ResultInfoOf(model, program_).width;
  if (options.dimensions > width_) {
    Fail("{}: embeddings have only {} dimensions, not {}", model.name(), width_, options.dimensions);
  }
  if (options.dimensions != 0) width_ = options.dimensions;
}

uint64_t TextEmbedder::Embed(const std::function<std::optional<std::string>()>& next,
                             const std::function<void(TextVectors& text)>& take, TextProgress* progress,
                             const std::function<double()>& share) {
  SessionRequest request;
  request.program = program_;
  request.workers = options_.workers;
  std::vector<TextVectors> window;
  WindowSteps steps;
  steps.next = [&]() -> std::optional<EncodedText> {
    std::optional<std::string> text = next();
    if (!text) return std::nullopt;
    Tokens tokens = EncodeFor(model_, tokenizer_, program_, options_.prompt.Before(*text), options_.max_length);
    return EncodedText{std::move(*text), std::move(tokens)};
  };
  steps.begin = [&](size_t texts) {
    window.assign(texts, TextVectors());
    if (progress != nullptr) progress->Begin(texts, share ? share() : 0);
  };
  steps.read = [&](const TextBatch& batch) {
    Embeddings made;
    if (of_tokens_) {
      made = {*ReadTokenEmbeddings(model_, batch.session), "token_embeddings"};
    } else if (of_words_) {
      made = {WordWeights(model_, batch.session, batch.tokens), "sparse word weights"};
    } else {
      made = ReadEmbeddings(model_, batch.session, options_.dimensions, options_.normalize);
    }
    source_ = made.source;
    const float* row = made.rows.values.data();
    for (size_t i = 0; i < batch.which.size(); ++i) {
      TextVectors& text = window[batch.which[i]];
      text.text = batch.texts[i];
      text.dropped = batch.tokens[i].dropped;
      text.spelled = batch.tokens[i].spelled;
      text.rows = of_tokens_ ? static_cast<uint32_t>(batch.tokens[i].ids.size()) : 1;
      const size_t count = size_t{text.rows} * width_;
      text.values.assign(row, row + count);
      row += count;
    }
    if (progress != nullptr) progress->Add(batch.which.size());
  };
  steps.end = [&] {
    if (progress != nullptr) progress->Clear();
    for (TextVectors& text : window) take(text);
  };
  return RunInWindows(model_, request, options_.limits, steps);
}

}  // namespace fovea::tools
