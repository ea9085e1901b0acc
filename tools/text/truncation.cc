#include "tools/text/truncation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace fovea::tools {
namespace {

constexpr size_t kNamed = 3;  // texts that the line lists

std::string Amount(uint64_t tokens, uint64_t sentences) {
  const auto counted = [](uint64_t count, const char* what) {
    return count == 0 ? "" : fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  const std::string both = tokens != 0 && sentences != 0 ? " and " : "";
  return counted(sentences, "sentence") + both + counted(tokens, "token");
}

}  // namespace

Truncations::Truncations(const std::vector<Tokens>& texts) {
  for (const Tokens& tokens : texts) Add(tokens);
}

void Truncations::Add(uint64_t tokens, uint64_t sentences, uint64_t spelled) {
  ++texts_;
  if (spelled != 0) ++spelling_;
  if (tokens == 0 && sentences == 0) return;
  ++cut_;
  tokens_ += tokens;
  sentences_ += sentences;
  if (first_.size() < kNamed) first_.push_back({texts_, tokens, sentences});
}

std::string Truncations::Line() const {
  const std::string whose = texts_ == 1 ? "the text is" : fmt::format("{} of {} texts are", cut_, texts_);
  std::string line = whose + " longer than the model reads; left out: " + Amount(tokens_, sentences_);
  if (texts_ == 1) return line;
  std::string named;
  for (const Truncation& cut : first_) {
    named += fmt::format("{}text {}: {}", named.empty() ? "" : ", ", cut.number, Amount(cut.tokens, cut.sentences));
  }
  return fmt::format("{} ({}{})", line, named, cut_ > first_.size() ? ", ..." : "");
}

std::string Truncations::SpellingLine() const {
  const std::string whose =
      texts_ == 1 ? "the text spells"
                  : fmt::format("{} of {} texts {}", spelling_, texts_, spelling_ == 1 ? "spells" : "spell");
  return whose + " special tokens, which are read as such; --literal reads them as text";
}

OrderedJson Truncations::Json() const {
  OrderedJson json = {{"texts", cut_}, {"tokens", tokens_}};
  if (sentences_ != 0) json["sentences"] = sentences_;
  json["note"] = Line();
  return json;
}

void PrintTruncations(const Truncations& truncations, std::ostream& err) {
  if (truncations.any()) err << "fovea: " << truncations.Line() << "\n";
  if (truncations.spelling() != 0) err << "fovea: " << truncations.SpellingLine() << "\n";
}

}  // namespace fovea::tools
