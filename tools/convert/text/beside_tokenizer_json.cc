#include "tools/convert/text/beside_tokenizer_json.h"

#include <algorithm>
#include <iterator>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

template <size_t N>
bool Among(const char* const (&names)[N], const std::string& type) {
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return type == name; });
}

constexpr const char* kBert[] = {"BertTokenizer",       "DistilBertTokenizer",        "ElectraTokenizer",
                                 "MobileBertTokenizer", "SqueezeBertTokenizer",       "LayoutLMTokenizer",
                                 "LayoutLMv2Tokenizer", "ConvBertTokenizer",          "MPNetTokenizer",
                                 "FunnelTokenizer",     "SplinterTokenizer",          "LxmertTokenizer",
                                 "RealmTokenizer",      "RetriBertTokenizer",         "DPRContextEncoderTokenizer",
                                 "DPRReaderTokenizer",  "DPRQuestionEncoderTokenizer"};
constexpr const char* kByteLevel[] = {"RobertaTokenizer", "BartTokenizer",       "LEDTokenizer",  "LongformerTokenizer",
                                      "MvpTokenizer",     "BlenderbotTokenizer", "GPT2Tokenizer", "CodeGenTokenizer",
                                      "DebertaTokenizer", "LayoutLMv3Tokenizer"};

std::string Written(const Json& value) { return value.is_null() ? "null" : value.dump(); }

// Sets a key of a part of tokenizer.json to the value of tokenizer_config.json. Where that has none, tokenizer.json
// stays as it is, though the class would apply its `usual` value.
void Follow(const char* part, const char* key, const JsonView& config, const char* configured, const Json& usual,
            Json* file, Findings* findings) {
  Json& place = (*file)[part][key];
  const bool given = config.json().contains(configured);
  const Json value = given ? config[configured].json() : usual;
  if (place == value) return;
  if (!value.is_null() && !value.is_boolean()) Fail("{} must be true or false", config[configured].name());
  if (findings != nullptr) {
    const std::string other = fmt::format("{}.{} of tokenizer.json is {}", part, key, Written(place));
    findings->push_back({Topic::kFiles, given ? fmt::format("{}; followed is {} {} of tokenizer_config.json", other,
                                                            configured, Written(value))
                                              : fmt::format("{}, which is followed; the class would take {} {}, as "
                                                            "tokenizer_config.json has none",
                                                            other, configured, Written(value))});
  }
  if (given) place = value;
}

}  // namespace

void ApplyKeysOfClass(const std::string& type, const JsonView& config, Json* file, Findings* findings) {
  if (!file->is_object()) return;
  const auto is = [&](const char* part, const char* name) {
    const auto found = file->find(part);
    if (found == file->end() || !found->is_object()) return false;
    const auto named = found->find("type");
    return named != found->end() && *named == name;
  };
  if (Among(kBert, type) && is("normalizer", "BertNormalizer")) {
    Follow("normalizer", "lowercase", config, "do_lower_case", true, file, findings);
    Follow("normalizer", "strip_accents", config, "strip_accents", Json(), file, findings);
    Follow("normalizer", "handle_chinese_chars", config, "tokenize_chinese_chars", true, file, findings);
  }
  if (Among(kByteLevel, type) && is("pre_tokenizer", "ByteLevel")) {
    const bool usual = type == "LayoutLMv3Tokenizer";
    Follow("pre_tokenizer", "add_prefix_space", config, "add_prefix_space", usual, file, findings);
    for (const char* trims : {"ByteLevel", "RobertaProcessing"}) {
      if (is("post_processor", trims)) {
        Follow("post_processor", "add_prefix_space", config, "add_prefix_space", usual, file, nullptr);
      }
    }
  }
}

std::string EndsOf(const TextModel& model) {
  std::string ends;
  for (const text::TemplateItem& item : model.single) {
    if (!ends.empty()) ends += " ";
    ends += item.kind != 0 ? "text" : item.id < model.tokens.size() ? model.tokens[item.id].piece : "?";
  }
  return ends.empty() || ends == "text" ? "none" : ends;
}

}  // namespace fovea::tools
