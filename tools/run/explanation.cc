// Explains a classification by sentences and words.
#include "tools/run/explanation.h"

#include <ctype.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/base/fail.h"
#include "tools/text/text_inputs.h"

namespace fovea::tools {
namespace {

// The weight of each row of a level in its segment, for the whole space; empty without a tap.
std::vector<double> ReadWeights(const Session& session, uint32_t space, int tap) {
  if (tap < 0) return {};
  const fovea_attention_map weights = session.AttentionMap(static_cast<uint32_t>(tap));
  const std::vector<uint32_t> lengths = session.Lengths(space), keys = session.Lengths(weights.key_space);
  if (keys.size() != lengths.size()) return {};  // the step does not belong to this level
  std::vector<double> all(std::accumulate(lengths.begin(), lengths.end(), size_t{0}));
  // There is one tapped row for each segment, or for each segment that is not empty.
  uint32_t first = 0, first_key = 0, tapped = 0;
  for (uint32_t segment = 0; segment < lengths.size(); ++segment) {
    if (keys[segment] < lengths[segment]) return {};
    const uint32_t query = weights.query_space == weights.key_space ? first_key : segment;
    if (tapped < weights.rows && weights.query_rows[tapped] == query) {
      const uint32_t front = keys[segment] - lengths[segment];  // prepended rows, if the keys' space extends this one
      const float* row = weights.data + static_cast<size_t>(tapped) * weights.heads * weights.stride + front;
      std::copy(row, row + lengths[segment], all.begin() + first);
      ++tapped;
    }
    first += lengths[segment];
    first_key += keys[segment];
  }
  return all;
}

bool IsWordByte(uint8_t byte) { return byte >= 0x80 || isalnum(byte) != 0 || byte == '_'; }
// The first UTF-8 byte of a character in a script without spaces (CJK).
bool IsIdeograph(uint8_t byte) { return byte >= 0xe3 && byte <= 0xe9; }

// Whether two adjacent tokens belong to one word.
bool Joined(const std::string& text, uint32_t end, uint32_t begin) {
  if (end != begin || begin == 0 || begin >= text.size()) return false;
  const auto left = static_cast<uint8_t>(text[begin - 1]), right = static_cast<uint8_t>(text[begin]);
  return IsWordByte(left) && IsWordByte(right) && !IsIdeograph(right);
}

struct Part {
  uint32_t first, count;  // tokens of the text
  double share;           // share of the whole text
};

// Adds words and tokens of a sentence or text whose first token is row `row` of `weights`.
void AddWords(const Tokenizer& tokenizer, const std::string& text, const Tokens& tokens, const Part& part,
              const double* weights, OrderedJson& out) {
  OrderedJson list = OrderedJson::array(), words = OrderedJson::array();
  uint32_t word_begin = 0, word_end = 0;
  double word_weight = 0;
  const auto flush = [&] {
    if (word_end > word_begin) {
      words.push_back({{"text", text.substr(word_begin, word_end - word_begin)},
                       {"begin", word_begin},
                       {"end", word_end},
                       {"weight", word_weight},
                       {"share", word_weight * part.share}});
    }
    word_begin = word_end = 0;
    word_weight = 0;
  };
  for (uint32_t i = 0; i < part.count; ++i) {
    const uint32_t token = part.first + i;
    uint32_t begin = tokens.begin[token], end = tokens.end[token];
    list.push_back({{"token", tokenizer.Piece(tokens.ids[token])},
                    {"begin", begin},
                    {"end", end},
                    {"special", tokens.special[token] != 0},
                    {"weight", weights[i]}});
    if (tokens.special[token] != 0) continue;
    while (begin < end && isspace(static_cast<uint8_t>(text[begin])) != 0) ++begin;
    if (begin == end) continue;
    if (word_end == word_begin || (begin >= word_end && !Joined(text, word_end, begin))) {
      flush();
      word_begin = begin;
    }
    word_end = std::max(word_end, end);
    word_weight += weights[i];
  }
  flush();
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
  const char* name = model.Metadata(fmt::format("explain.{}", model.Space(space).name));
  const std::optional<uint32_t> step = name == nullptr ? std::nullopt : model.FindAttention(program, name);
  if (!step) return level;
  fovea_tap tap = TapOf(*step);
  tap.reduce = FOVEA_REDUCE_MEAN;
  const uint32_t queries = model.StepInput(program, *step, 0), keys = model.StepInput(program, *step, 1);
  if (model.Value(program, queries).space == model.Value(program, keys).space) {
    tap.rows = FOVEA_TAP_ROWS_STRIDE;  // the first row of each segment
    tap.stride = UINT32_MAX;
  }
  level.tap = static_cast<int>(taps_.size());
  taps_.push_back(tap);
  return level;
}

std::vector<OrderedJson> Explainer::Explain(const Tokenizer& tokenizer, const Session& session,
                                            const std::vector<std::string>& texts,
                                            const std::vector<Tokens>& tokens) const {
  const std::vector<double> word_weights = ReadWeights(session, tokens_.space, tokens_.tap);
  const std::vector<double> sentence_weights = ReadWeights(session, sentences_.space, sentences_.tap);
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
      if (!sentence_weights.empty()) part["share"] = share = sentence_weights[sentence_row];
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
