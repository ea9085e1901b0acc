// Command line arguments that several commands share.
#include "tools/commands/arguments.h"

#include <algorithm>
#include <fstream>
#include <iostream>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"

namespace fovea::tools {

void ModelArguments::AddTo(CLI::App* command) {
  command->add_option("BLOB", path, "Blob made by 'fovea convert'")->required();
  command->add_option("--backend", backend, "Who multiplies matrices: default, highway or xnnpack")
      ->check(CLI::IsMember({"default", "highway", "xnnpack"}))
      ->type_name("NAME");
  command->add_flag("--skip-checksum", skip_checksum, "Do not read the whole blob to verify its checksum");
}

Model ModelArguments::Open() const {
  Model::Options options;
  options.backend = backend == "highway"   ? FOVEA_BACKEND_HIGHWAY
                    : backend == "xnnpack" ? FOVEA_BACKEND_XNNPACK
                                           : FOVEA_BACKEND_DEFAULT;
  options.skip_checksum = skip_checksum;
  return Model(path, options);
}

CLI::Option* AddProgram(CLI::App* command, std::string* program) {
  return command->add_option("--program", *program, "Entry point of the model (default: its first)")->type_name("NAME");
}

CLI::Option* AddWorkers(CLI::App* command, uint32_t* workers) {
  return command->add_option("--workers", *workers, "Threads, the calling one included")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

CLI::Option* AddJson(CLI::App* command, bool* json) { return command->add_flag("--json", *json, "Print JSON"); }

void ShapeArguments::AddTo(CLI::App* command) {
  AddProgram(command, &program);
  CLI::Option* rows_option =
      command->add_option("--rows", rows, "Rows (tokens) of each text; default 128 or the model's most")
          ->check(CLI::Range(1, 1 << 24));
  CLI::Option* batch_option =
      command->add_option("--batch", batch, "Number of texts")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  command->add_option("--lengths", lengths, "Rows of each text instead, as 12,40,7")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24))
      ->excludes(rows_option)
      ->excludes(batch_option);
  AddWorkers(command, &workers);
  command->add_option("--tile-rows", tile_rows, "Rows carried through a phase at a time; default: chosen")
      ->check(CLI::Range(1, 1024));
}

std::vector<uint32_t> ShapeArguments::Lengths(const Model& model) const {
  if (!lengths.empty()) return lengths;
  uint32_t length = rows;
  if (length == 0) {
    length = 128;
    const uint32_t index = model.FindProgram(program);
    for (const uint32_t value : InputsOf(model, index)) {
      length = std::min(length, std::max(1u, model.Space(model.Value(index, value).space).max_segment_rows));
    }
  }
  return std::vector<uint32_t>(batch, length);
}

SessionRequest ShapeArguments::Request(const Model& model, const Batch& inputs) const {
  SessionRequest request;
  request.program = model.FindProgram(program);
  request.workers = workers;
  request.tile_rows = tile_rows;
  request.limits = ExactLimits(model, inputs);
  return request;
}

Batch ShapeArguments::MakeBatch(const Model& model) const {
  return SyntheticBatch(model, model.FindProgram(program), Lengths(model));
}

void TextArguments::AddTo(CLI::App* command) {
  command->add_option("--text", texts, "A text; may be given several times")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--document", documents, "File that is one text; may be given several times")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--file", file, "File with one text per line ('-': standard input)")->type_name("FILE");
}

std::vector<std::string> TextArguments::All() const {
  std::vector<std::string> all = texts;
  for (const std::string& path : documents) all.push_back(ReadFile(path));
  if (file.empty()) return all;
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) Fail("{}: cannot open", file);
  }
  std::istream& stream = file == "-" ? std::cin : opened;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    all.push_back(line);
  }
  if (stream.bad()) Fail("{}: cannot read", file);
  return all;
}

}  // namespace fovea::tools
