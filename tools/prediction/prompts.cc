#include "tools/prediction/prompts.h"

#include "fovea/text.h"
#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/print.h"
#include "tools/model/library_error.h"

namespace fovea::tools {
namespace {

constexpr char kPrefix[] = "prompt.", kNoPrompt[] = "none";

}  // namespace

std::vector<std::string> Prompt::Before(const std::vector<std::string>& texts) const {
  std::vector<std::string> all;
  for (const std::string& of : texts) all.push_back(Before(of));
  return all;
}

std::vector<Prompt> PromptsOf(const Model& model) {
  std::vector<Prompt> prompts;
  for (uint32_t i = 0; i < model.Info().metadata_count; ++i) {
    const char *key = nullptr, *value = nullptr;
    if (fovea_model_get_metadata(model.get(), i, &key, &value) != FOVEA_OK) continue;
    const std::string name = key;
    if (StartsWith(name, kPrefix)) prompts.push_back({name.substr(sizeof(kPrefix) - 1), value});
  }
  return prompts;
}

Prompt ChoosePrompt(const Model& model, const std::string& name) {
  const char *text = "", *chosen = "";
  fovea_error error = {};
  const fovea_status status =
      fovea_text_get_prompt(model.get(), name.empty() ? nullptr : name.c_str(), &text, &chosen, &error);
  if (status != FOVEA_E_NAME) {
    Check(status, error, model.name());
    return {chosen, text};
  }
  if (name == kNoPrompt) return {};
  const char* standard = model.Metadata("default_prompt");
  const std::string wanted = !name.empty() ? name : standard == nullptr ? "" : standard;
  if (model.Metadata("unpooled_prompt." + wanted) != nullptr) {
    Fail(
        "{}: prompt {}: the original leaves its tokens out of the embedding (include_prompt false), which is not "
        "supported; --prompt-name {} puts none in front of a text",
        model.name(), wanted, kNoPrompt);
  }
  std::string known;
  for (const Prompt& prompt : PromptsOf(model)) known += (known.empty() ? "" : ", ") + prompt.name;
  if (known.empty()) Fail("{}: has no prompts; leave out --prompt-name", model.name());
  Fail("{}: has no prompt '{}'; its prompts are: {}", model.name(), wanted, known);
}

std::string NoteOf(const Prompt& prompt) {
  if (prompt.text.empty()) return "";
  return fmt::format("prompt {} is in front of each text: '{}'", prompt.name, prompt.text);
}

void PrintPrompt(const std::string& note, std::ostream& err) {
  if (!note.empty()) err << "fovea: " << Printable(note) << "\n";
}

}  // namespace fovea::tools
