// The chat template of a model directory.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_CHAT_FILES_H_
#define FOVEA_TOOLS_CONVERT_TEXT_CHAT_FILES_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/convert/findings.h"

namespace fovea::tools {

// The chat template of a directory as the metadata that tools/text/chat_format.h reads; empty if it has none. As in
// transformers: chat_template.jinja, else the key of tokenizer_config.json, else chat_template.json and
// processor_config.json of processors; of several templates the one named "default". `findings`: receives which one it
// is, and whether it can be rendered.
std::vector<std::pair<std::string, std::string>> ChatMetadataIn(const std::filesystem::path& model_dir,
                                                                Findings* findings = nullptr);

// Adds templates other than "default" as "chat_template.NAME", and reports how each is chosen.
void AddNamedTemplates(const std::vector<std::pair<std::string, std::string>>& named,
                       std::vector<std::pair<std::string, std::string>>* entries, Findings* findings);

// Whether a template can be rendered, as a finding. `where`: the file that has it.
Finding TemplateFinding(const std::string& where, const std::string& source);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_CHAT_FILES_H_
