// Predictions for texts, sounds or images, by the task of the model.
#include "tools/prediction/prediction.h"

#include <math.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/base/fail.h"
#include "tools/prediction/word_weights.h"

namespace fovea::tools {
namespace {

std::vector<double> Softmax(const float* logits, uint32_t count) {
  const double most = *std::max_element(logits, logits + count);
  std::vector<double> shares(count);
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += shares[i] = exp(logits[i] - most);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<uint32_t> Best(const std::vector<double>& scores, uint32_t top) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  const size_t count = std::min<size_t>(top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    [&](uint32_t a, uint32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(count);
  return order;
}

OrderedJson Classes(const Model& model, const float* logits, uint32_t count, uint32_t top) {
  const ClassProblem problem = ClassProblemOf(model, count);
  OrderedJson classes = OrderedJson::array();
  if (problem == ClassProblem::kRegression) {
    const bool activated = count == 1 && model.Metadata("score_activation") != nullptr;
    for (uint32_t i = 0; i < count; ++i) {
      classes.push_back({{"label", ClassName(model, i)}, {"score", logits[i]}});
      if (!activated) continue;
      classes.back()["score"] = ActivatedScore(model, logits[i]);
      classes.back()["logit"] = logits[i];
    }
    return classes;
  }
  std::vector<double> shares = Softmax(logits, count);
  if (problem == ClassProblem::kManyLabels) {
    for (uint32_t i = 0; i < count; ++i) shares[i] = 1 / (1 + exp(-static_cast<double>(logits[i])));
  }
  for (const uint32_t i : Best(shares, top)) {
    classes.push_back({{"label", ClassName(model, i)}, {"probability", shares[i]}, {"logit", logits[i]}});
  }
  return classes;
}

OrderedJson Tags(const Model& model, const Tokenizer& tokenizer, const Matrix& logits, uint32_t first,
                 const std::string& text, const Tokens& tokens) {
  OrderedJson tags = OrderedJson::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] != 0) continue;
    const std::vector<double> shares = Softmax(logits.Row(first + static_cast<uint32_t>(i)), logits.width);
    const uint32_t best = Best(shares, 1)[0];
    tags.push_back({{"token", tokenizer.Piece(tokens.ids[i])},
                    {"text", text.substr(tokens.begin[i], tokens.end[i] - tokens.begin[i])},
                    {"begin", tokens.begin[i]},
                    {"end", tokens.end[i]},
                    {"label", ClassName(model, best)},
                    {"probability", shares[best]}});
  }
  return tags;
}

OrderedJson Spans(const Model& model, const Tokenizer& tokenizer, const Matrix& logits, uint32_t first,
                  const std::string& text, const Tokens& tokens, Aggregation aggregation) {
  std::vector<TaggedToken> tagged;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.special[i] != 0) continue;
    tagged.push_back({Softmax(logits.Row(first + static_cast<uint32_t>(i)), logits.width), tokens.begin[i],
                      tokens.end[i], tokenizer.ContinuesWord(text, tokens, i)});
  }
  std::vector<std::string> labels;
  for (uint32_t i = 0; i < logits.width; ++i) labels.push_back(ClassName(model, i));
  OrderedJson spans = OrderedJson::array();
  for (const Span& found : SpansOf(tagged, labels, aggregation)) {
    const Span span = WithoutSpaces(found, text);
    spans.push_back({{"text", text.substr(span.begin, span.end - span.begin)},
                     {"begin", span.begin},
                     {"end", span.end},
                     {"label", span.label},
                     {"probability", span.probability}});
  }
  return spans;
}

// The largest word weights of a text, and the number of nonzero weights.
OrderedJson SparseWords(const Tokenizer& tokenizer, const float* weights, uint32_t count, uint32_t top) {
  OrderedJson words = OrderedJson::array();
  for (const uint32_t id : Best({weights, weights + count}, top)) {
    if (weights[id] == 0) break;
    words.push_back({{"token", tokenizer.Piece(static_cast<int32_t>(id))}, {"id", id}, {"weight", weights[id]}});
  }
  return {{"nonzero", std::count_if(weights, weights + count, [](float weight) { return weight != 0; })},
          {"words", words}};
}

OrderedJson MaskedWords(const Tokenizer& tokenizer, const Matrix& logits, uint32_t first, const Tokens& tokens,
                        uint32_t top) {
  const std::optional<int32_t> mask = tokenizer.MaskId();
  OrderedJson masks = OrderedJson::array();
  for (size_t i = 0; mask && i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] != *mask) continue;
    const std::vector<double> shares = Softmax(logits.Row(first + static_cast<uint32_t>(i)), logits.width);
    OrderedJson words = OrderedJson::array();
    for (const uint32_t id : Best(shares, top)) {
      words.push_back({{"token", tokenizer.Piece(static_cast<int32_t>(id))}, {"id", id}, {"probability", shares[id]}});
    }
    masks.push_back({{"position", i}, {"words", words}});
  }
  return masks;
}

// Interprets the rows of an output: of a whole text, sound or image, or of a token.
class InterpretedOutputs {
 public:
  InterpretedOutputs(const Model& model, const Session& session, const PredictionOptions& options)
      : model_(model), task_(TaskOf(model, session.request().program)) {
    RefuseGenerators(model, options.pairs);
    if (options.pairs && task_ == OutputTask::kTags)
      Fail("{}: gives tags of tokens, which pairs of texts do not have; leave out --pair", model.name());
    if (options.sparse && task_ != OutputTask::kMaskedWords)
      Fail("{}: is not a masked language model, so it has no word weights; leave out --sparse", model.name());
    if (options.dimensions != 0 && task_ != OutputTask::kEmbedding)
      Fail("{}: makes no embeddings; leave out --dimensions", model.name());
    if (task_ == OutputTask::kEmbedding) {
      embeddings_ = ReadEmbeddings(model, session, options.dimensions);
    } else {
      logits_ = ReadLogits(model, session);
    }
  }

  OutputTask task() const { return task_; }
  const Matrix& logits() const { return logits_; }

  // Adds classes or the embedding of row `row`.
  void AddClassesOrEmbedding(uint32_t row, uint32_t top, OrderedJson& entry) const {
    if (task_ == OutputTask::kClasses) {
      entry["classes"] = Classes(model_, logits_.Row(row), logits_.width, top);
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
  const OutputTask task_;
  Embeddings embeddings_;
  Matrix logits_;
};

}  // namespace

OrderedJson Predict(const Model& model, const Tokenizer& tokenizer, const Session& session,
                    const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                    const PredictionOptions& options) {
  const InterpretedOutputs outputs(model, session, options);
  const Matrix weights = options.sparse ? WordWeights(model, session, tokens) : Matrix();
  OrderedJson predictions = OrderedJson::array();
  const std::optional<Matrix> rows = ReadTokenEmbeddings(model, session);
  uint32_t first = 0;  // row of the text's first token
  for (size_t i = 0; i < texts.size(); ++i) {
    OrderedJson entry = {{"text", texts[i]}, {"tokens", tokens[i].ids.size()}};
    if (tokens[i].dropped != 0) entry["dropped_tokens"] = tokens[i].dropped;
    if (tokens[i].dropped_sentences != 0) entry["dropped_sentences"] = tokens[i].dropped_sentences;
    switch (outputs.task()) {
      case OutputTask::kTags:
        if (options.tokens) {
          entry["tags"] = Tags(model, tokenizer, outputs.logits(), first, texts[i], tokens[i]);
        } else {
          entry["spans"] = Spans(model, tokenizer, outputs.logits(), first, texts[i], tokens[i], options.aggregation);
        }
        break;
      case OutputTask::kMaskedWords:
        if (options.sparse) {
          entry["sparse"] = SparseWords(tokenizer, weights.Row(static_cast<uint32_t>(i)), weights.width, options.top);
        } else {
          entry["masks"] = MaskedWords(tokenizer, outputs.logits(), first, tokens[i], options.top);
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
