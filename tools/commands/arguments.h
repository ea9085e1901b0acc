// Command line arguments that several commands share.
#ifndef FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/base/json_list.h"
#include "tools/base/lines.h"
#include "tools/commands/command_line.h"
#include "tools/model/batch.h"
#include "tools/model/model.h"

namespace fovea::tools {

Option AddBlob(Command command, std::string* path);
Option AddProgram(Command command, std::string* program);
Option AddWorkers(Command command, uint32_t* workers);
// --cache: the type of the KV cache (keys and values of earlier tokens), a FOVEA_TYPE_*.
Option AddCacheType(Command command, std::optional<uint32_t>* type);
Option AddMaxLength(Command command, uint32_t* max_length);
// --dimensions: see ReadEmbeddings.
Option AddDimensions(Command command, uint32_t* dimensions);
// --prompt-name: see ChoosePrompt (prediction/prompts.h).
Option AddPromptName(Command command, std::string* name);
Option AddSeconds(Command command, double* seconds, const std::string& help);
Option AddJson(Command command, bool* json);
// --json and --jsonl, for commands that print an entry for each of many inputs.
void AddJsonList(Command command, ListForm* form);
// --batch: most texts of a run.
Option AddTextBatch(Command command, uint32_t* texts);

// Targets to pack weights for (repeatable); any that PackTargets() does not list is refused.
Option AddPackTargets(const Options& options, const std::string& names, std::vector<std::string>* targets,
                      const std::string& help);

// The blob and how it is opened.
struct ModelArguments {
  std::string path;
  uint32_t backend = FOVEA_BACKEND_DEFAULT;
  bool skip_checksum = false;
  bool literal_texts = false;

  // Returns BLOB.
  Option AddTo(Command command);
  // --literal, for commands that read texts.
  void AddLiteral(Command command);
  // The blob as an option with this name.
  void AddOptionTo(Command command, const std::string& name, const std::string& help);
  Model Open() const;

 private:
  void AddHow(Command command);
};

// The program and the shape of its input: --rows and --batch, or --lengths.
struct ShapeArguments {
  std::string program;
  uint32_t rows = 0;
  uint32_t batch = 1;
  std::vector<uint32_t> lengths;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;

  void AddTo(Command command);
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

  void AddTo(Command command);
  bool Given() const { return !texts.empty() || !documents.empty() || !file.empty(); }
  // --text first, then each --document as a whole, then the lines of --file.
  std::vector<std::string> All() const;
};

// The same texts one by one; nothing is kept.
class TextSource {
 public:
  explicit TextSource(const TextArguments& arguments);
  std::optional<std::string> Next();
  // The part of the input that has been read, from 0 to 1; 0: unknown, as for pipes.
  double Share() const;

 private:
  const TextArguments& arguments_;
  size_t next_ = 0;    // text or document
  uint64_t line_ = 0;  // lines of the file that were read
  std::optional<LineReader> lines_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
