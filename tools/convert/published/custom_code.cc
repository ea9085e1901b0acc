#include "tools/convert/published/custom_code.h"

#include <algorithm>
#include <iterator>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/resolve.h"

namespace fovea::tools {
namespace {

// Types whose architecture describes the published code.
constexpr const char* kDescribed[] = {"eurobert", "gte",       "jina_bert", "jina_xlm_roberta",
                                      "minicpm",  "mobilellm", "new",       "nomic_bert"};

// Classes of the original library that are not named as their type.
struct ClassName {
  const char* type;
  const char* letters;
};
constexpr ClassName kClasses[] = {{"hunyuan_v1_dense", "hunyuandensev1"},
                                  {"gemma3_text", "gemma3"},
                                  {"llama4_text", "llama4"},
                                  {"mistral", "mistral"},
                                  {"smollm3", "smollm3"},
                                  {"speech_to_text", "speech2text"},
                                  {"audio-spectrogram-transformer", "ast"}};

std::string LettersOf(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '-' && c != '_') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return letters;
}

// "Phi3ForCausalLM" and "Phi3Model" are classes of phi3, "Phi3FlashForCausalLM" is not.
bool IsClassOf(const std::string& type, const std::string& name) {
  const auto known = std::find_if(std::begin(kClasses), std::end(kClasses),
                                  [&](const ClassName& entry) { return type == entry.type; });
  const std::string stem = known == std::end(kClasses) ? LettersOf(type) : known->letters;
  const std::string letters = LettersOf(name);
  if (!StartsWith(letters, stem)) return false;
  const std::string end = letters.substr(stem.size());
  return StartsWith(end, "for") || StartsWith(end, "model") || StartsWith(end, "lmheadmodel") ||
         StartsWith(end, "mtmodel") || StartsWith(end, "encodermodel");
}

std::string ClassOf(const Config& config) {
  const Json& classes = config.Get("architectures");
  return classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>() : "";
}

}  // namespace

Description DescribeWithoutCode(const Config& config, const std::string& type,
                                const std::function<Description()>& describe) {
  const bool described =
      std::any_of(std::begin(kDescribed), std::end(kDescribed), [&](const char* known) { return type == known; });
  const std::string name = ClassOf(config);
  if (described) return describe();
  if (name.empty() || IsClassOf(type, name)) {
    Description description;
    try {
      description = describe();
    } catch (const Failure& failure) {
      Fail("{}; config.json: auto_map names code of the model, which is not run: it was read as {}", failure.what(),
           type);
    }
    description.findings.push_back(
        {Topic::kFiles,
         fmt::format("config.json: auto_map names code of the model, which is not run: it is read as {}", type)});
    return description;
  }
  std::string reason;
  try {
    const Description description = describe();
    Resolve(description);
    LeftOut(description);
  } catch (const Failure& failure) {
    reason = failure.what();
  }
  if (reason.empty()) {
    Fail(
        "config.json: auto_map names code of the model, which is not run, and {} is not a class of {}; its tensors fit,"
        " so --as {} converts it, if it computes the same",
        name, type, type);
  }
  Fail("config.json: auto_map names code of the model, which is not run, and {} is not a class of {}: {}", name, type,
       reason);
}

}  // namespace fovea::tools
