// Command line arguments that several commands share.
#include "tools/commands/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "tools/base/lines.h"
#include "tools/base/mapped_file.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/packed_weights.h"

namespace fovea::tools {

CLI::Option* AddNamed(CLI::App* command, const std::string& option, const std::vector<std::string>& names,
                      const std::function<void(const std::string&)>& choose, const std::function<std::string()>& chosen,
                      const std::string& help) {
  return command->add_option_function<std::string>(option, choose, help)
      ->check(CLI::IsMember(names))
      ->default_function(chosen);
}

CLI::Option* AddBlob(CLI::App* command, std::string* path) {
  return command->add_option("BLOB", *path, "Blob, made by 'fovea convert'")->required();
}

CLI::Option* AddProgram(CLI::App* command, std::string* program) {
  return command->add_option("--program", *program, "Run this program (entry point) of the model; default: its first")
      ->type_name("NAME");
}

CLI::Option* AddWorkers(CLI::App* command, uint32_t* workers) {
  return command->add_option("--workers", *workers, "Use N threads, including the calling one")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

CLI::Option* AddCacheType(CLI::App* command, std::optional<uint32_t>* type) {
  static const std::map<std::string, uint32_t> kTypes = {
      {"f32", FOVEA_TYPE_F32}, {"f16", FOVEA_TYPE_F16}, {"bf16", FOVEA_TYPE_BF16}, {"int8", FOVEA_TYPE_I8}};
  return command
      ->add_option_function<std::string>(
          "--cache", [=](const std::string& name) { *type = kTypes.at(name); },
          "Store the KV cache as f32, f16, bf16 or int8; default: as the blob specifies")
      ->check(CLI::IsMember(kTypes))
      ->type_name("TYPE");
}

CLI::Option* AddMaxLength(CLI::App* command, uint32_t* max_length) {
  return command->add_option("--max-length", *max_length,
                             "Truncate texts to N tokens, including special tokens; default: the model's maximum");
}

CLI::Option* AddDimensions(CLI::App* command, uint32_t* dimensions) {
  return command
      ->add_option("--dimensions", *dimensions,
                   "Keep the first N elements of embeddings, normalised again (Matryoshka models)")
      ->check(CLI::Range(1, 1 << 20));
}

CLI::Option* AddSeconds(CLI::App* command, double* seconds, const std::string& help) {
  return command->add_option("--seconds", *seconds, help)->check(CLI::Range(0.0, 3600.0))->capture_default_str();
}

CLI::Option* AddJson(CLI::App* command, bool* json) { return command->add_flag("--json", *json, "Print JSON"); }

CLI::Option* AddRepeated(CLI::App* command, const std::string& option, std::vector<std::string>* values,
                         const std::string& help) {
  return command->add_option(option, *values, help + " (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* AddPackTargets(CLI::App* command, const std::string& option, std::vector<std::string>* targets,
                            const std::string& help) {
  const std::vector<std::string> known = PackTargets();
  return AddRepeated(command, option, targets, fmt::format("{}:\n{}", help, fmt::join(known, ", ")))
      ->check(CLI::IsMember(known))
      ->type_name("TARGET");
}

void ModelArguments::AddTo(CLI::App* command) {
  AddBlob(command, &path);
  AddChoice<uint32_t>(
      command, "--backend", &backend,
      {{"default", FOVEA_BACKEND_DEFAULT}, {"highway", FOVEA_BACKEND_HIGHWAY}, {"xnnpack", FOVEA_BACKEND_XNNPACK}},
      "Backend of matrix products (GEMM): default, highway or xnnpack")
      ->type_name("NAME");
  command->add_flag("--skip-checksum", skip_checksum, "Do not verify the checksum, which reads the whole blob");
}

Model ModelArguments::Open() const {
  Model::Options options;
  options.backend = backend;
  options.skip_checksum = skip_checksum;
  return Model(path, options);
}

void ShapeArguments::AddTo(CLI::App* command) {
  AddProgram(command, &program);
  CLI::Option* rows_option =
      command->add_option("--rows", rows, "Rows (tokens) of each text; default: 128, or the model's maximum if less")
          ->check(CLI::Range(1, 1 << 24));
  CLI::Option* batch_option =
      command->add_option("--batch", batch, "Number of texts")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  command->add_option("--lengths", lengths, "Rows of each text, instead of --rows and --batch: 12,40,7")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24))
      ->excludes(rows_option)
      ->excludes(batch_option);
  AddWorkers(command, &workers);
  command->add_option("--tile-rows", tile_rows, "Process N rows at a time in a phase; default: chosen by the planner")
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

std::vector<int32_t> ReadIds(const std::string& option, const std::string& line) {
  std::istringstream stream(line);
  std::vector<int32_t> ids;
  for (int32_t id; stream >> id;) ids.push_back(id);
  if (!stream.eof()) Fail("{} '{}': expected token ids separated by spaces", option, line);
  return ids;
}

void TextArguments::AddTo(CLI::App* command) {
  AddRepeated(command, "--text", &texts, "A text to read")->type_name("TEXT");
  AddRepeated(command, "--document", &documents, "File whose content is one text")->type_name("FILE");
  command->add_option("--file", file, "File with one text per line ('-': standard input)")->type_name("FILE");
}

std::vector<std::string> TextArguments::All() const {
  std::vector<std::string> all = texts;
  for (const std::string& path : documents) all.push_back(ReadFile(path));
  if (!file.empty()) {
    for (std::string& line : ReadLines(file)) all.push_back(std::move(line));
  }
  return all;
}

}  // namespace fovea::tools
