// Explains a classification by sentences and words.
#include "tools/run/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/result.h"
#include "tools/model/library_error.h"
#include "tools/text/text_inputs.h"
#include "tools/text/token_arrays.h"

namespace fovea::tools {
namespace {

// The weight of each row of a level in its segment, for the whole space; empty without a tap, or one of another level.
std::vector<float> ReadWeights(const Session& session, uint32_t space, int tap) {
  if (tap < 0) return {};
  const std::vector<uint32_t> lengths = session.Lengths(space);
  std::vector<float> all(std::accumulate(lengths.begin(), lengths.end(), size_t{0}));
  fovea_error error = {};
  const fovea_status status =
      fovea_result_read_weights(session.get(), static_cast<uint32_t>(tap), space, all.data(), all.size(), &error);
  if (status == FOVEA_E_OPTION) return {};
  Check(status, error, "attention weights");
  return all;
}

struct Part {
  uint32_t first, count;  // tokens of the text
  double share;           // share of the whole text
};

// Adds words and tokens of a sentence or text whose first token is row `row` of `weights`.
void AddWords(const Tokenizer& tokenizer, const std::string& text, const Tokens& tokens, const Part& part,
              const float* weights, OrderedJson& out) {
  OrderedJson list = OrderedJson::array(), words = OrderedJson::array();
  for (uint32_t i = 0; i < part.count; ++i) {
    const uint32_t token = part.first + i;
    list.push_back({{"token", tokenizer.Piece(tokens.ids[token])},
                    {"begin", tokens.begin[token]},
                    {"end", tokens.end[token]},
                    {"special", tokens.special[token] != 0},
                    {"weight", weights[i]}});
  }
  const TokenArrays arrays(tokens);
  std::vector<fovea_word> found(part.count);
  uint64_t count = 0;
  fovea_error error = {};
  Check(fovea_result_get_words(text.data(), text.size(), arrays.get(), part.first, part.count, weights, found.data(),
                               found.size(), &count, &error),
        error, "words");
  for (uint64_t i = 0; i < count; ++i) {
    words.push_back({{"text", text.substr(found[i].begin, found[i].end - found[i].begin)},
                     {"begin", found[i].begin},
                     {"end", found[i].end},
                     {"weight", found[i].weight},
                     {"share", found[i].weight * part.share}});
  }
  out["words"] = words;
  out["token_weights"] = list;
}

// Indices of the `top` entries with the largest numbers under `key`.
std::vector<size_t> Most(const OrderedJson& list, const char* key, uint32_t top) {
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return list[a][key].get<double>() > list[b][key].get<double>(); });
  order.resize(std::min<size_t>(order.size(), top));
  return order;
}

void PrintWords(std::ostream& out, const OrderedJson& words, uint32_t top, std::string before) {
  if (words.empty()) return;
  for (const size_t i : Most(words, "weight", top)) {
    out << fmt::format("{}{:.2f} {}", before, words[i]["weight"].get<double>(),
                       Printable(words[i]["text"].get<std::string>()));
    before = "   ";
  }
  out << "\n";
}

}  // namespace

Explainer::Explainer(const Model& model, uint32_t program) : nested_(ReadsDocuments(model, program)) {
  if (!TakesTokens(model, program)) return;
  const uint32_t tokens = TokenSpace(model, program);
  tokens_ = Add(model, program, tokens);
  if (nested_) sentences_ = Add(model, program, model.Space(tokens).parent);
}

Explainer::Level Explainer::Add(const Model& model, uint32_t program, uint32_t space) {
  Level level{space, -1};
  fovea_tap tap = Sized<fovea_tap>();
  fovea_error error = {};
  const fovea_status status = fovea_result_get_explaining_tap(model.get(), program, space, &tap, &error);
  if (status == FOVEA_E_NAME) return level;
  Check(status, error, model.name());
  level.tap = static_cast<int>(taps_.size());
  taps_.push_back(tap);
  return level;
}

std::vector<OrderedJson> Explainer::Explain(const Tokenizer& tokenizer, const Session& session,
                                            const std::vector<std::string>& texts,
                                            const std::vector<Tokens>& tokens) const {
  const std::vector<float> word_weights = ReadWeights(session, tokens_.space, tokens_.tap);
  const std::vector<float> sentence_weights = ReadWeights(session, sentences_.space, sentences_.tap);
  std::vector<OrderedJson> explanations;
  size_t row = 0, sentence_row = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    OrderedJson entry = OrderedJson::object();
    if (!nested_) {
      const auto count = static_cast<uint32_t>(tokens[i].ids.size());
      if (!word_weights.empty()) AddWords(tokenizer, texts[i], tokens[i], {0, count, 1}, &word_weights[row], entry);
      row += count;
      explanations.push_back(std::move(entry));
      continue;
    }
    OrderedJson sentences = OrderedJson::array();
    uint32_t first = 0;
    for (const Tokens::Sentence& sentence : tokens[i].sentences) {
      OrderedJson part = {{"text", texts[i].substr(sentence.begin, sentence.end - sentence.begin)},
                          {"begin", sentence.begin},
                          {"end", sentence.end}};
      double share = 1.0 / static_cast<double>(tokens[i].sentences.size());
      if (!sentence_weights.empty()) part["share"] = share = double{sentence_weights[sentence_row]};
      if (!word_weights.empty())
        AddWords(tokenizer, texts[i], tokens[i], {first, sentence.tokens, share}, &word_weights[row], part);
      sentences.push_back(std::move(part));
      first += sentence.tokens;
      row += sentence.tokens;
      ++sentence_row;
    }
    entry["sentences"] = std::move(sentences);
    if (tokens[i].dropped_sentences != 0) entry["dropped_sentences"] = tokens[i].dropped_sentences;
    explanations.push_back(std::move(entry));
  }
  return explanations;
}

void PrintExplanation(std::ostream& out, const OrderedJson& prediction, uint32_t top) {
  if (top == 0) return;
  if (prediction.contains("words")) PrintWords(out, prediction["words"], top, "  words: ");
  if (!prediction.contains("sentences")) return;
  const OrderedJson& sentences = prediction["sentences"];
  if (prediction.contains("dropped_sentences")) {
    out << fmt::format("  (truncated to {} sentences, {} dropped)\n", sentences.size(),
                       prediction["dropped_sentences"].get<uint64_t>());
  }
  if (sentences.empty() || !sentences[0].contains("share")) return;
  out << "  because of\n";
  for (const size_t i : Most(sentences, "share", top)) {
    out << fmt::format("  {:<7.4f} {}\n", sentences[i]["share"].get<double>(),
                       Shortened(sentences[i]["text"].get<std::string>()));
    if (sentences[i].contains("words")) PrintWords(out, sentences[i]["words"], top, "            ");
  }
}

}  // namespace fovea::tools
