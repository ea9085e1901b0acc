#include "tools/generate/target_tokens.h"

#include <algorithm>

#include "fovea/text.h"
#include "tools/base/sized.h"
#include "tools/generate/text_stream.h"
#include "tools/model/aligned_memory.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

std::vector<int32_t> ByTokenizer(const Model& model, const std::string& text) {
  const std::string doing = fmt::format("text '{}'", Shortened(text));
  fovea_error error = {};
  uint64_t bytes = 0;
  Check(fovea_text_scratch_size(model.get(), text.size(), &bytes, &error), error, doing);
  const Memory scratch = Allocate(bytes);
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  options.flags = FOVEA_TEXT_PLAIN | FOVEA_TEXT_UNLIMITED;
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  std::vector<int32_t> ids(text.size() + 8);  // enough for almost every text
  for (int turn = 0; turn < 2; ++turn) {
    tokens.capacity = ids.size();
    tokens.ids = ids.data();
    const fovea_status status = fovea_text_encode(model.get(), text.data(), text.size(), nullptr, 0, &options,
                                                  scratch.get(), bytes, &tokens, &error);
    ids.resize(tokens.count);
    if (status == FOVEA_E_CAPACITY && turn == 0) continue;
    Check(status, error, doing);
    break;
  }
  return ids;
}

std::vector<std::string> LabelsOf(const Model& model) {
  std::vector<std::string> labels;
  while (const char* label = model.Metadata(fmt::format("label.{}", labels.size()))) labels.push_back(label);
  return labels;
}

// Labels are delimited by separators.
std::vector<int32_t> SeparateLabels(const Model& model, const std::string& text, const std::string& separator) {
  const std::vector<std::string> labels = LabelsOf(model);
  std::vector<int32_t> tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    const std::string name = text.substr(at, end - at);
    const auto found = std::find(labels.begin(), labels.end(), name);
    if (found == labels.end()) Fail("{}: the decoder has no token for '{}'", model.name(), name);
    tokens.push_back(static_cast<int32_t>(found - labels.begin()));
    at = end + separator.size();
  }
  return tokens;
}

std::vector<int32_t> ByLabels(const Model& model, const std::string& text) {
  const std::vector<std::string> labels = LabelsOf(model);
  std::vector<int32_t> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t best = labels.size();
    for (size_t i = 0; i < labels.size(); ++i) {
      const bool longer = best == labels.size() || labels[i].size() > labels[best].size();
      if (!labels[i].empty() && longer && text.compare(at, labels[i].size(), labels[i]) == 0) best = i;
    }
    if (best == labels.size()) Fail("{}: the decoder has no token for '{}'", model.name(), text.substr(at));
    tokens.push_back(static_cast<int32_t>(best));
    at += labels[best].size();
  }
  return tokens;
}

}  // namespace

std::vector<int32_t> TargetTokens(const Model& model, const std::string& text,
                                  const std::optional<std::string>& separator) {
  if (model.Metadata("label.0") == nullptr) return ByTokenizer(model, text);
  const std::string between = separator ? *separator : Separator(model);
  return between.empty() ? ByLabels(model, text) : SeparateLabels(model, text, between);
}

std::set<std::vector<int32_t>> TargetForms(const Model& model, const std::string& text,
                                           const std::optional<std::string>& separator) {
  std::set<std::vector<int32_t>> forms = {TargetTokens(model, text, separator)};
  if (model.Metadata("label.0") != nullptr) return forms;
  for (const char* before : {"a", ".", "\n"}) {
    const std::vector<int32_t> first = ByTokenizer(model, before), both = ByTokenizer(model, before + text);
    const bool apart = both.size() > first.size() && std::equal(first.begin(), first.end(), both.begin());
    if (apart) forms.emplace(both.begin() + static_cast<ptrdiff_t>(first.size()), both.end());
  }
  return forms;
}

}  // namespace fovea::tools
