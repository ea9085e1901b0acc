// Prompts that a model was trained with: words in front of each text, by the kind of text (query, document, ...).
#ifndef FOVEA_TOOLS_PREDICTION_PROMPTS_H_
#define FOVEA_TOOLS_PREDICTION_PROMPTS_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

// Both empty: none.
struct Prompt {
  std::string name;
  std::string text;

  std::string Before(const std::string& of) const { return text + of; }
  std::vector<std::string> Before(const std::vector<std::string>& texts) const;
};

// All prompts, by metadata prompt.<name>.
std::vector<Prompt> PromptsOf(const Model& model);

// The prompt of this name; fails with the list if there is no such one, and if the original leaves the prompt's tokens
// out of the embedding. An empty name: the model's default (metadata default_prompt), which may be none; "none": none,
// unless the model has a prompt of that name.
Prompt ChoosePrompt(const Model& model, const std::string& name);

// For stderr: which prompt is in front of each text. Empty if there is none.
std::string NoteOf(const Prompt& prompt);
// Prints it as one line, if there is one.
void PrintPrompt(const std::string& note, std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_PROMPTS_H_
