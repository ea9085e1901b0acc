// Command line arguments that several commands share.
#ifndef FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/model/batch.h"
#include "tools/model/model.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fovea::tools {

// The values that an option accepts, by name.
template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

template <typename T>
std::string NameOf(const Choices<T>& choices, const T& value) {
  for (const auto& [name, choice] : choices) {
    if (choice == value) return name;
  }
  return "";
}

// `choose` receives one of the names, `chosen` returns the present one.
CLI::Option* AddNamed(CLI::App* command, const std::string& option, const std::vector<std::string>& names,
                      const std::function<void(const std::string&)>& choose, const std::function<std::string()>& chosen,
                      const std::string& help);

template <typename T>
CLI::Option* AddChoice(CLI::App* command, const std::string& option, T* value, const Choices<T>& choices,
                       const std::string& help) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  const auto choose = [=](const std::string& given) {
    for (const auto& [name, choice] : choices) {
      if (name == given) *value = choice;
    }
  };
  return AddNamed(
      command, option, names, choose, [=] { return NameOf(choices, *value); }, help);
}

CLI::Option* AddBlob(CLI::App* command, std::string* path);
CLI::Option* AddProgram(CLI::App* command, std::string* program);
CLI::Option* AddWorkers(CLI::App* command, uint32_t* workers);
// --cache: the type of the KV cache (keys and values of earlier tokens), a FOVEA_TYPE_*.
CLI::Option* AddCacheType(CLI::App* command, std::optional<uint32_t>* type);
CLI::Option* AddMaxLength(CLI::App* command, uint32_t* max_length);
// --dimensions: see ReadEmbeddings.
CLI::Option* AddDimensions(CLI::App* command, uint32_t* dimensions);
CLI::Option* AddSeconds(CLI::App* command, double* seconds, const std::string& help);
CLI::Option* AddJson(CLI::App* command, bool* json);
// An option that can be given several times; `values` gets all of them.
CLI::Option* AddRepeated(CLI::App* command, const std::string& option, std::vector<std::string>* values,
                         const std::string& help);

// Targets to pack weights for (repeatable); any that PackTargets() does not list is refused.
CLI::Option* AddPackTargets(CLI::App* command, const std::string& option, std::vector<std::string>* targets,
                            const std::string& help);

// The blob and how it is opened.
struct ModelArguments {
  std::string path;
  uint32_t backend = FOVEA_BACKEND_DEFAULT;
  bool skip_checksum = false;

  void AddTo(CLI::App* command);
  Model Open() const;
};

// The program and the shape of its input: --rows and --batch, or --lengths.
struct ShapeArguments {
  std::string program;
  uint32_t rows = 0;
  uint32_t batch = 1;
  std::vector<uint32_t> lengths;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;

  void AddTo(CLI::App* command);
  // Rows of each segment. Without any option: 128, or the model's maximum number of positions if that is less.
  std::vector<uint32_t> Lengths(const Model& model) const;
  // The request for a session, and a synthetic batch that fits it exactly.
  SessionRequest Request(const Model& model, const Batch& inputs) const;
  Batch MakeBatch(const Model& model) const;
};

// Parses token ids separated by spaces. `option`: its name, for the message.
std::vector<int32_t> ReadIds(const std::string& option, const std::string& line);

// Texts from --text, --document and --file.
struct TextArguments {
  std::vector<std::string> texts, documents;
  std::string file;

  void AddTo(CLI::App* command);
  bool Given() const { return !texts.empty() || !documents.empty() || !file.empty(); }
  // --text first, then each --document as a whole, then the lines of --file.
  std::vector<std::string> All() const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
