#include "tools/generate/target_tokens.h"

#include "fovea/text.h"
#include "tools/base/sized.h"
#include "tools/common/error.h"
#include "tools/common/memory.h"

namespace fovea::tools {
namespace {

std::vector<int32_t> ByTokenizer(const Model& model, const std::string& text) {
  const std::string doing = fmt::format("text '{}'", Shortened(text));
  fovea_error error = {};
  uint64_t bytes = 0;
  Check(fovea_text_workspace_size(model.get(), text.size(), &bytes, &error), error, doing);
  const Memory workspace = Allocate(bytes);
  fovea_text_encode_options options = Sized<fovea_text_encode_options>();
  options.flags = FOVEA_TEXT_PLAIN | FOVEA_TEXT_UNLIMITED;
  fovea_text_tokens tokens = Sized<fovea_text_tokens>();
  std::vector<int32_t> ids(text.size() + 8);  // enough for nearly every text
  for (int turn = 0; turn < 2; ++turn) {
    tokens.capacity = ids.size();
    tokens.ids = ids.data();
    const fovea_status status = fovea_text_encode(model.get(), text.data(), text.size(), nullptr, 0, &options,
                                                  workspace.get(), bytes, &tokens, &error);
    ids.resize(tokens.count);
    if (status == FOVEA_E_CAPACITY && turn == 0) continue;
    Check(status, error, doing);
    break;
  }
  return ids;
}

std::vector<int32_t> ByLabels(const Model& model, const std::string& text) {
  std::vector<std::string> labels;
  while (const char* label = model.Metadata(fmt::format("label.{}", labels.size()))) labels.push_back(label);
  std::vector<int32_t> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t best = labels.size();
    for (size_t i = 0; i < labels.size(); ++i) {
      const bool longer = best == labels.size() || labels[i].size() > labels[best].size();
      if (!labels[i].empty() && longer && text.compare(at, labels[i].size(), labels[i]) == 0) best = i;
    }
    if (best == labels.size()) Fail("{}: the decoder cannot write '{}'", model.name(), text.substr(at));
    tokens.push_back(static_cast<int32_t>(best));
    at += labels[best].size();
  }
  return tokens;
}

}  // namespace

std::vector<int32_t> TargetTokens(const Model& model, const std::string& text) {
  return model.Metadata("label.0") != nullptr ? ByLabels(model, text) : ByTokenizer(model, text);
}

}  // namespace fovea::tools
