// Greedy decoding of CTC models.
#include "tools/generate/ctc.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/generate/clean_up.h"
#include "tools/generate/defaults.h"

namespace fovea::tools {
namespace {

std::string Stripped(const std::string& text) {
  const char* const kSpaces = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kSpaces);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

}  // namespace

bool CtcDecoder::Fits(const Model& model) { return MetadataOr(model, "task", "") == "ctc"; }

CtcDecoder::CtcDecoder(const Model& model) : delimiter_(MetadataOr(model, "ctc.delimiter", " ")) {
  const char* blank = model.Metadata("ctc.blank");
  if (blank == nullptr) Fail("{}: has no vocabulary; convert it again with its vocab.json", model.name());
  const uint32_t program = model.FindProgram("");
  const std::optional<uint32_t> scores = model.FindValue(program, "logits");
  if (!scores) Fail("{}: the program has no output 'logits'", model.name());
  const uint32_t count = model.Value(program, *scores).width;
  for (uint32_t id = 0; id < count; ++id) {
    const std::string key = fmt::format("label.{}", id);
    const char* label = model.Metadata(key);
    if (label == nullptr) Fail("{}: no such label", MetadataName(model, key));
    labels_.push_back(label);
  }
  blank_ = static_cast<int32_t>(WholeNumberIn(blank, MetadataName(model, "ctc.blank"), {0, int64_t{count} - 1}));
  clean_up_ = MetadataOr(model, "ctc.clean_up", "") == "true";
}

std::vector<CtcFrame> CtcDecoder::Best(const Matrix& scores, uint32_t begin, uint32_t end) {
  std::vector<CtcFrame> frames;
  for (uint32_t row = begin; row < end; ++row) {
    const float* x = scores.Row(row);
    const float* best = std::max_element(x, x + scores.width);
    double sum = 0;
    for (uint32_t i = 0; i < scores.width; ++i) sum += exp(static_cast<double>(x[i]) - *best);
    frames.push_back({static_cast<int32_t>(best - x), static_cast<float>(-log(sum))});
  }
  return frames;
}

std::vector<CtcPart> CtcDecoder::Tokens(const std::vector<CtcFrame>& frames) const {
  std::vector<CtcPart> tokens;
  for (uint64_t begin = 0, end; begin < frames.size(); begin = end) {
    const int32_t id = frames[begin].id;
    const std::string& label = Label(id);
    double sum = 0;
    // All ids without a label are treated as the same token.
    for (end = begin; end < frames.size() && Label(frames[end].id) == label; ++end) sum += frames[end].log_probability;
    if (id == blank_) continue;
    tokens.push_back({label, {id}, begin, end, sum / static_cast<double>(end - begin)});
  }
  return tokens;
}

std::vector<CtcPart> CtcDecoder::Words(const std::vector<CtcPart>& tokens) const {
  std::vector<CtcPart> words;
  bool inside = false;
  for (const CtcPart& token : tokens) {
    const bool parts = token.text == delimiter_;
    if (!parts && !inside) words.push_back({"", {}, token.begin, token.end, 0});
    inside = !parts;
    if (parts) continue;
    CtcPart& word = words.back();
    word.text += token.text;
    word.ids.push_back(token.ids[0]);
    word.end = token.end;
    word.log_probability += token.log_probability;
  }
  return words;
}

CtcText CtcDecoder::Text(const std::vector<CtcFrame>& frames) const {
  CtcText text;
  text.tokens = Tokens(frames);
  text.words = Words(text.tokens);
  for (const CtcPart& token : text.tokens) {
    if (token.text == delimiter_) text.final_text = text.text;
    text.text += token.text;
  }
  text.final_text.erase(0, text.final_text.find_first_not_of(' '));
  const bool open = !text.tokens.empty() && text.tokens.back().text != delimiter_;
  text.final_words = text.words.size() - (open ? 1 : 0);
  text.text = Stripped(text.text);
  if (clean_up_) text.text = CleanedUp(text.text);
  return text;
}

}  // namespace fovea::tools
