// Special tokens around texts, where tokenizer_config.json can override tokenizer.json.
#include "tools/convert/text/template_by_config.h"

#include <algorithm>
#include <iterator>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

bool BuildsAnew(const std::string& type) {
  constexpr const char* kClasses[] = {"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer"};
  return std::any_of(std::begin(kClasses), std::end(kClasses), [&](const char* name) { return type == name; });
}

// The ids around a single text, with the text as -1.
std::vector<int64_t> Around(const std::vector<text::TemplateItem>& items) {
  if (items.empty()) return {-1};
  std::vector<int64_t> ids;
  for (const text::TemplateItem& item : items) ids.push_back(item.kind == 0 ? int64_t{item.id} : -1);
  return ids;
}

void Build(bool begins, bool ends, const PublishedTokens& tokens, const std::string& type, TextModel* model) {
  std::string bos = tokens.Named("bos_token"), eos = tokens.Named("eos_token");
  for (const DefaultToken& usual : NamesOfClass(type)) {
    if (std::string(usual.key) == "bos_token") bos = tokens.Named("bos_token", usual.content);
    if (std::string(usual.key) == "eos_token") eos = tokens.Named("eos_token", usual.content);
  }
  if (begins && bos.empty()) Fail("tokenizer_config.json: add_bos_token is true, but there is no bos_token");
  if (ends && eos.empty()) Fail("tokenizer_config.json: add_eos_token is true, but there is no eos_token");
  const auto one = [&](const char* text, const char* type_id) {
    return (begins ? bos + type_id + " " : "") + text + type_id + (ends ? " " + eos + type_id : "");
  };
  SetTemplate(one("$A", ":0"), one("$A", ":0") + " " + one("$B", ":1"), model);
}

}  // namespace

std::vector<DefaultToken> NamesOfClass(const std::string& type) {
  if (type == "GemmaTokenizer") {
    return {{"bos_token", "<bos>"}, {"eos_token", "<eos>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  }
  if (type == "LlamaTokenizer" || type == "CodeLlamaTokenizer") {
    return {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}};
  }
  return {};
}

void FollowAddedEnds(const std::string& type, const JsonView& config, const PublishedTokens& tokens, TextModel* model,
                     std::vector<std::string>* warnings) {
  const bool asked = !config["add_bos_token"].IsNull() || !config["add_eos_token"].IsNull();
  const bool fifth = !config["backend"].IsNull() || type == "TokenizersBackend";
  const bool ends = config["add_eos_token"].Flag(false);
  if (fifth) {
    if (asked) Build(config["add_bos_token"].Flag(false), ends, tokens, type, model);
    return;
  }
  if (BuildsAnew(type)) return Build(config["add_bos_token"].Flag(true), ends, tokens, type, model);
  if (!asked || warnings == nullptr) return;
  // Version 5 of the library follows the keys.
  TextModel other = *model;
  try {
    Build(config["add_bos_token"].Flag(false), ends, tokens, type, &other);
  } catch (const Failure&) {
    return;
  }
  if (Around(other.single) == Around(model->single)) return;
  warnings->push_back(fmt::format(
      "tokenizer_config.json: add_bos_token and add_eos_token request other special tokens than tokenizer.json "
      "has; class {} keeps the template of tokenizer.json, as in transformers 4 (version 5 follows the keys)",
      type.empty() ? "PreTrainedTokenizerFast" : type));
}

}  // namespace fovea::tools
