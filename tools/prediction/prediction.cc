// Predictions for texts, sounds or images, by the task of the model.
#include "tools/prediction/prediction.h"

#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/word_weights.h"

namespace fovea::tools {
namespace {

// `scores`: the logits of a text as the library presents them.
OrderedJson Classes(const Model& model, const fovea_result_info& info, const float* logits, const float* scores,
                    uint32_t top) {
  OrderedJson classes = OrderedJson::array();
  if (info.width == 1 || info.activation == FOVEA_ACTIVATION_NONE) {
    const bool activated = info.width == 1 && model.Metadata("score_activation") != nullptr;
    for (uint32_t i = 0; i < info.width; ++i) {
      classes.push_back({{"label", ClassName(model, i)}, {"score", scores[i]}});
      if (activated) classes.back()["logit"] = logits[i];
    }
    return classes;
  }
  for (const uint32_t i : Best(scores, info.width, top)) {
    classes.push_back({{"label", ClassName(model, i)}, {"probability", scores[i]}, {"logit", logits[i]}});
  }
  return classes;
}

OrderedJson Tags(const Model& model, const Tokenizer& tokenizer, const Matrix& scores, const std::string& text,
                 const Tokens& tokens) {
  OrderedJson tags = OrderedJson::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] != 0) continue;
    const float* row = scores.Row(static_cast<uint32_t>(i));
    const uint32_t best = Best(row, scores.width, 1)[0];
    tags.push_back({{"token", tokenizer.Piece(tokens.ids[i])},
                    {"text", text.substr(tokens.begin[i], tokens.end[i] - tokens.begin[i])},
                    {"begin", tokens.begin[i]},
                    {"end", tokens.end[i]},
                    {"label", ClassName(model, best)},
                    {"probability", row[best]}});
  }
  return tags;
}

OrderedJson Spans(const Model& model, const Matrix& scores, const std::string& text, const Tokens& tokens,
                  uint32_t aggregation) {
  OrderedJson spans = OrderedJson::array();
  for (const fovea_span& span : SpansOf(model, scores, text, tokens, aggregation)) {
    const bool named = span.name[0] != '\0';
    spans.push_back({{"text", text.substr(span.begin, span.end - span.begin)},
                     {"begin", span.begin},
                     {"end", span.end},
                     {"label", named ? span.name : ClassName(model, span.label)},
                     {"probability", span.score}});
  }
  return spans;
}

// The largest word weights of a text, and the number of nonzero weights.
OrderedJson SparseWords(const Tokenizer& tokenizer, const float* weights, uint32_t count, uint32_t top) {
  OrderedJson words = OrderedJson::array();
  for (const uint32_t id : Best(weights, count, top)) {
    if (weights[id] == 0) break;
    words.push_back({{"token", tokenizer.Piece(static_cast<int32_t>(id))}, {"id", id}, {"weight", weights[id]}});
  }
  return {{"nonzero", std::count_if(weights, weights + count, [](float weight) { return weight != 0; })},
          {"words", words}};
}

// Reads the results of a run: of a whole text, sound or image, or of a token.
class InterpretedOutputs {
 public:
  InterpretedOutputs(const Model& model, const Session& session, const PredictionOptions& options)
      : model_(model), session_(session), task_(TaskOf(model, session.request().program)) {
    RefuseGenerators(model, options.pairs);
    if (options.pairs && task_ == OutputTask::kTags)
      Fail("{}: gives tags of tokens, which pairs of texts do not have; leave out --pair", model.name());
    if (options.sparse && task_ != OutputTask::kMaskedWords)
      Fail("{}: is not a masked language model, so it has no word weights; leave out --sparse", model.name());
    if (options.dimensions != 0 && task_ != OutputTask::kEmbedding)
      Fail("{}: makes no embeddings; leave out --dimensions", model.name());
    if (task_ == OutputTask::kEmbedding) {
      embeddings_ = ReadEmbeddings(model, session, options.dimensions);
      return;
    }
    info_ = ResultInfoOf(model, session.request().program);
    if (task_ == OutputTask::kMaskedWords) {  // also of a model that was published for word weights
      info_.pooling = FOVEA_POOLING_NONE;
      info_.activation = FOVEA_ACTIVATION_SOFTMAX;
    }
    if (task_ != OutputTask::kClasses) return;
    logits_ = ReadLogits(model, session);
    scores_ = ReadAllResults(model, session, info_);
  }

  OutputTask task() const { return task_; }
  // Probabilities of `count` tokens from `first` on.
  Matrix Scores(uint32_t first, uint32_t count) const { return ReadResults(model_, session_, info_, first, count); }

  // Adds classes or the embedding of row `row`.
  void AddClassesOrEmbedding(uint32_t row, uint32_t top, OrderedJson& entry) const {
    if (task_ == OutputTask::kClasses) {
      entry["classes"] = Classes(model_, info_, logits_.Row(row), scores_.Row(row), top);
      return;
    }
    const float* numbers = embeddings_.rows.Row(row);
    double squares = 0;
    for (uint32_t j = 0; j < embeddings_.rows.width; ++j) squares += static_cast<double>(numbers[j]) * numbers[j];
    entry["source"] = embeddings_.source;
    entry["norm"] = sqrt(squares);
    entry["embedding"] = std::vector<float>(numbers, numbers + embeddings_.rows.width);
  }

 private:
  const Model& model_;
  const Session& session_;
  const OutputTask task_;
  fovea_result_info info_ = {};
  Embeddings embeddings_;
  Matrix logits_, scores_;
};

OrderedJson MaskedWords(const Tokenizer& tokenizer, const InterpretedOutputs& outputs, uint32_t first,
                        const Tokens& tokens, uint32_t top) {
  const std::optional<int32_t> mask = tokenizer.MaskId();
  OrderedJson masks = OrderedJson::array();
  for (size_t i = 0; mask && i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] != *mask) continue;
    const Matrix scores = outputs.Scores(first + static_cast<uint32_t>(i), 1);
    OrderedJson words = OrderedJson::array();
    for (const uint32_t id : Best(scores.Row(0), scores.width, top)) {
      words.push_back(
          {{"token", tokenizer.Piece(static_cast<int32_t>(id))}, {"id", id}, {"probability", scores.values[id]}});
    }
    masks.push_back({{"position", i}, {"words", words}});
  }
  return masks;
}

}  // namespace

OrderedJson Predict(const Model& model, const Tokenizer& tokenizer, const Session& session,
                    const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                    const PredictionOptions& options) {
  const InterpretedOutputs outputs(model, session, options);
  const Matrix weights = options.sparse ? WordWeights(model, session, tokens) : Matrix();
  OrderedJson predictions = OrderedJson::array();
  const std::optional<Matrix> rows = ReadTokenEmbeddings(model, session);
  Matrix scores;
  uint32_t first = 0;  // row of the text's first token
  for (size_t i = 0; i < texts.size(); ++i) {
    OrderedJson entry = {{"text", texts[i]}, {"tokens", tokens[i].ids.size()}};
    if (tokens[i].dropped != 0) entry["dropped_tokens"] = tokens[i].dropped;
    if (tokens[i].dropped_sentences != 0) entry["dropped_sentences"] = tokens[i].dropped_sentences;
    switch (outputs.task()) {
      case OutputTask::kTags:
        scores = outputs.Scores(first, static_cast<uint32_t>(tokens[i].ids.size()));
        if (options.tokens) {
          entry["tags"] = Tags(model, tokenizer, scores, texts[i], tokens[i]);
        } else {
          entry["spans"] = Spans(model, scores, texts[i], tokens[i], options.aggregation);
        }
        break;
      case OutputTask::kMaskedWords:
        if (options.sparse) {
          entry["sparse"] = SparseWords(tokenizer, weights.Row(static_cast<uint32_t>(i)), weights.width, options.top);
        } else {
          entry["masks"] = MaskedWords(tokenizer, outputs, first, tokens[i], options.top);
        }
        break;
      case OutputTask::kClasses:
      case OutputTask::kEmbedding:
        outputs.AddClassesOrEmbedding(static_cast<uint32_t>(i), options.top, entry);
        for (uint32_t row = first; rows && row < first + tokens[i].ids.size() && row < rows->rows; ++row) {
          entry["token_embeddings"].push_back(std::vector<float>(rows->Row(row), rows->Row(row) + rows->width));
        }
        break;
    }
    first += static_cast<uint32_t>(tokens[i].ids.size());
    predictions.push_back(std::move(entry));
  }
  return predictions;
}

void PredictMedia(const Model& model, const Session& session, const PredictionOptions& options,
                  std::vector<OrderedJson>& entries) {
  const InterpretedOutputs outputs(model, session, options);
  if (outputs.task() != OutputTask::kClasses && outputs.task() != OutputTask::kEmbedding) {
    Fail(
        "{}: program '{}' has no output for a whole sound or image; fovea run --input FILE --output FILE writes all of "
        "its outputs",
        model.name(), model.Program(session.request().program).name);
  }
  for (size_t i = 0; i < entries.size(); ++i)
    outputs.AddClassesOrEmbedding(static_cast<uint32_t>(i), options.top, entries[i]);
}

void PrintPrediction(std::ostream& out, const OrderedJson& entry) {
  const auto text = [](const OrderedJson& value) { return Printable(value.get<std::string>()); };
  const bool document = entry.contains("sentences");
  const OrderedJson& of = entry[entry.contains("file") ? "file" : "text"];
  out << (document ? Shortened(of.get<std::string>()) : text(of)) << "\n";
  if (entry.contains("pair")) out << "  with: " << text(entry["pair"]) << "\n";
  if (document && entry.contains("dropped_tokens")) {
    out << fmt::format("  (long sentences were cut: {} tokens dropped)\n", entry["dropped_tokens"].get<uint64_t>());
  } else if (entry.contains("dropped_tokens")) {
    out << fmt::format("  (cut after {} tokens, {} dropped)\n", entry["tokens"].get<size_t>(),
                       entry["dropped_tokens"].get<uint64_t>());
  }
  if (entry.contains("classes")) {
    for (const OrderedJson& c : entry["classes"]) {
      const double number = c.contains("score") ? c["score"].get<double>() : c["probability"].get<double>();
      out << fmt::format("  {:<7.4f} {}\n", number, text(c["label"]));
    }
  } else if (entry.contains("segments")) {
    for (const OrderedJson& c : entry["segments"]) {
      out << fmt::format("  {:<7.4f} {}\n", c["share"].get<double>(), text(c["label"]));
    }
  } else if (entry.contains("tags")) {
    for (const OrderedJson& tag : entry["tags"]) {
      out << fmt::format("  {:<16} {:<16} {:.4f}\n", text(tag["token"]), text(tag["label"]),
                         tag["probability"].get<double>());
    }
  } else if (entry.contains("spans")) {
    if (entry["spans"].empty()) out << "  (no tagged spans)\n";
    for (const OrderedJson& span : entry["spans"]) {
      out << fmt::format("  {:<7.4f} {:<16} {}\n", span["probability"].get<double>(), text(span["label"]),
                         text(span["text"]));
    }
  } else if (entry.contains("sparse")) {
    const OrderedJson& sparse = entry["sparse"];
    for (const OrderedJson& word : sparse["words"]) {
      out << fmt::format("  {:<7.4f} {}\n", word["weight"].get<double>(), text(word["token"]));
    }
    out << fmt::format("  ({} words have a weight)\n", Grouped(sparse["nonzero"].get<uint64_t>()));
  } else if (entry.contains("masks")) {
    if (entry["masks"].empty()) out << "  (no mask token in this text)\n";
    for (const OrderedJson& mask : entry["masks"]) {
      out << fmt::format("  token {}\n", mask["position"].get<size_t>());
      for (const OrderedJson& word : mask["words"]) {
        out << fmt::format("    {:<7.4f} {}\n", word["probability"].get<double>(), text(word["token"]));
      }
    }
  } else {
    const std::vector<float> row = entry["embedding"].get<std::vector<float>>();
    out << "  [";
    for (size_t i = 0; i < row.size() && i < 8; ++i) out << fmt::format("{}{:.4f}", i == 0 ? "" : ", ", row[i]);
    out << fmt::format("{}]  {} numbers, norm {:.4f}, {}\n", row.size() > 8 ? ", ..." : "", row.size(),
                       entry["norm"].get<double>(), text(entry["source"]));
    if (entry.contains("token_embeddings")) {
      out << fmt::format("  (an embedding for each of {} tokens: --json prints them)\n",
                         entry["token_embeddings"].size());
    }
  }
}

}  // namespace fovea::tools
