// Adds to a record what the model answered.
#include "tools/attend/answers.h"

#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/generate/ctc.h"
#include "tools/model/library_error.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/result_reader.h"
#include "tools/vectors/directions.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kTop = 5;  // classes, words or neighbors of an input

RecordAnswer AnswerOf(const OrderedJson& entry) {
  RecordAnswer answer;
  const auto add = [&](const OrderedJson& from, const char* label, const char* number, const std::string& of) {
    answer.entries.push_back({from[label].get<std::string>(), of, from[number].get<double>()});
  };
  if (entry.contains("classes")) {
    for (const OrderedJson& each : entry["classes"]) {
      answer.kind = each.contains("score") ? "scores" : "classes";
      add(each, "label", each.contains("score") ? "score" : "probability", "");
    }
  } else if (entry.contains("spans")) {
    answer.kind = "spans";
    for (const OrderedJson& span : entry["spans"]) add(span, "label", "probability", span["text"].get<std::string>());
  } else if (entry.contains("masks")) {
    answer.kind = "words";
    for (const OrderedJson& mask : entry["masks"]) {
      const std::string of = std::to_string(mask["position"].get<size_t>());
      for (const OrderedJson& word : mask["words"]) add(word, "token", "probability", of);
    }
  } else if (entry.contains("embedding")) {
    answer.kind = "embedding";
    answer.width = static_cast<uint32_t>(entry["embedding"].size());
  }
  return answer;
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double product = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i], of_a += double{a[i]} * a[i], of_b += double{b[i]} * b[i];
  }
  return of_a == 0 || of_b == 0 ? 0 : product / sqrt(of_a * of_b);
}

// The most similar of the other inputs, by the cosine of their embeddings.
void AddNeighbors(const std::vector<std::vector<float>>& embeddings, std::vector<RecordAnswer>* answers) {
  for (size_t i = 0; i < embeddings.size(); ++i) {
    std::vector<RecordLabel>& near = (*answers)[i].entries;
    for (size_t j = 0; j < embeddings.size(); ++j) {
      if (j != i) near.push_back({std::to_string(j + 1), "", Cosine(embeddings[i], embeddings[j])});
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const RecordLabel& a, const RecordLabel& b) { return a.number > b.number; });
    if (near.size() > kTop) near.resize(kTop);
  }
}

// The most probable labels of each image. The model has a Matching.
void AddLabels(const Model& model, const std::vector<std::vector<float>>& images, const AttendRequest& request,
               std::vector<RecordAnswer>* answers) {
  EmbeddingOptions options;
  options.workers = request.workers;
  const Directions labels = DirectionsOfTexts(model, "", request.texts, {}, options);
  for (size_t i = 0; i < images.size(); ++i) {
    std::vector<double> cosines;
    for (const std::vector<float>& label : labels.rows) cosines.push_back(Cosine(images[i], label));
    const std::vector<double> shares = MatchingOf(model)->Probabilities(cosines);
    std::vector<RecordLabel> entries;
    for (size_t j = 0; j < shares.size(); ++j) entries.push_back({request.texts[j], "", shares[j]});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const RecordLabel& a, const RecordLabel& b) { return a.number > b.number; });
    if (entries.size() > kTop) entries.resize(kTop);
    (*answers)[i] = {"classes", std::move(entries), 0};
  }
}

OrderedJson Predictions(const Model& model, const Session& session, const Subject& subject) {
  PredictionOptions options;
  options.top = kTop;
  if (!subject.tokens.empty()) {
    options.pairs = subject.tokens.size() < subject.record.texts.size();
    const std::vector<std::string> texts(subject.record.texts.begin(),
                                         subject.record.texts.begin() + static_cast<ptrdiff_t>(subject.tokens.size()));
    return Predict(model, Tokenizer(model), session, texts, subject.tokens, options);
  }
  const fovea_result_info info = ResultInfoOf(model, subject.program);
  uint32_t count = 0;
  fovea_error error = {};
  Check(fovea_result_get_count(session.get(), &info, &count, &error), error, model.name());
  std::vector<OrderedJson> entries(count, OrderedJson::object());
  PredictMedia(model, session, options, entries);
  return entries;
}

// The text of each sound that a CTC model reads, by the best token of each frame.
std::vector<RecordAnswer> Transcripts(const Model& model, const Session& session, uint32_t program) {
  std::vector<RecordAnswer> answers;
  const std::optional<uint32_t> logits = FindOutput(model, program, "logits");
  if (!logits) return answers;
  const CtcDecoder decoder(model);
  const Matrix scores = session.Output(*logits);
  uint32_t begin = 0;
  for (const uint32_t length : session.Lengths(model.Value(program, *logits).space)) {
    const CtcText text = decoder.Text(CtcDecoder::Best(scores, begin, begin + length));
    double log_probability = 0;
    for (const CtcPart& token : text.tokens) log_probability += token.log_probability;
    const double tokens = std::max<double>(1, static_cast<double>(text.tokens.size()));
    answers.push_back({"text", {{text.text, "", exp(log_probability / tokens)}}, 0});
    begin += length;
  }
  return answers;
}

}  // namespace

void AddAnswers(const Model& model, const Session& session, const AttendRequest& request, Subject* subject) {
  if (CtcDecoder::Fits(model)) {
    if (model.Metadata("ctc.blank") == nullptr) return;  // has no vocabulary
    subject->record.answers = Transcripts(model, session, subject->program);
    return;
  }
  if (!FindResultInfo(model, subject->program)) return;
  OrderedJson predictions;
  try {
    predictions = Predictions(model, session, *subject);
  } catch (const Failure&) {
    return;  // such as a decoder that reads a text, whose scores are not classes
  }
  std::vector<std::vector<float>> embeddings;
  for (const OrderedJson& entry : predictions) {
    subject->record.answers.push_back(AnswerOf(entry));
    if (entry.contains("embedding")) embeddings.push_back(entry["embedding"].get<std::vector<float>>());
  }
  if (embeddings.size() != predictions.size()) return;
  const bool labels = !request.pictures.empty() && !request.texts.empty();
  if (labels) return AddLabels(model, embeddings, request, &subject->record.answers);
  AddNeighbors(embeddings, &subject->record.answers);
}

}  // namespace fovea::tools
