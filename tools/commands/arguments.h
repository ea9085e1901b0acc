// Command line arguments that several commands share.
#ifndef FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"

namespace fovea::tools {

// The blob and how it is opened.
struct ModelArguments {
  std::string path;
  std::string backend = "default";
  bool skip_checksum = false;

  void AddTo(CLI::App* command);
  Model Open() const;
};

// Which program with which rows: --rows and --batch, or --lengths.
struct ShapeArguments {
  std::string program;
  uint32_t rows = 0;
  uint32_t batch = 1;
  std::vector<uint32_t> lengths;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;

  void AddTo(CLI::App* command);
  // Of each segment. Without any option: 128 rows, or what the model's positions allow if that is less.
  std::vector<uint32_t> Lengths(const Model& model) const;
  // A request and a synthetic batch that it just holds.
  SessionRequest Request(const Model& model, const Batch& inputs) const;
  Batch MakeBatch(const Model& model) const;
};

CLI::Option* AddProgram(CLI::App* command, std::string* program);
CLI::Option* AddWorkers(CLI::App* command, uint32_t* workers);
CLI::Option* AddJson(CLI::App* command, bool* json);

// Texts from --text, --document and --file.
struct TextArguments {
  std::vector<std::string> texts, documents;
  std::string file;

  void AddTo(CLI::App* command);
  bool Given() const { return !texts.empty() || !documents.empty() || !file.empty(); }
  // --text first, then whole files, then the lines of the file without line ends; "-" is standard input.
  std::vector<std::string> All() const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_ARGUMENTS_H_
