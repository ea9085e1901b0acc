// Command line arguments that several commands share.
#include "tools/commands/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "tools/base/lines.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/text/unicode.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/packed_weights.h"

namespace fovea::tools {

Option AddBlob(Command command, std::string* path) {
  return command.Under(Heading::kInput).Add("BLOB", path, "Blob, made by 'fovea convert'").Required();
}

Option AddProgram(Command command, std::string* program) {
  return command.Under(Heading::kModel)
      .Add("--program", program, "Run this program (entry point) of the model; default: its first")
      .Placeholder("NAME");
}

Option AddWorkers(Command command, uint32_t* workers) {
  return command.Under(Heading::kMachine)
      .Add("--workers,--threads", workers, "Use N threads, including the calling one")
      .Range(1, 64)
      .ShowDefault();
}

Option AddCacheType(Command command, std::optional<uint32_t>* type) {
  return command.Under(Heading::kMachine)
      .AddChoice<std::optional<uint32_t>>(
          "--cache", type,
          {{"bf16", FOVEA_TYPE_BF16}, {"f16", FOVEA_TYPE_F16}, {"f32", FOVEA_TYPE_F32}, {"int8", FOVEA_TYPE_I8}},
          "Store the KV cache as f32, f16, bf16 or int8; default: as the blob specifies")
      .Placeholder("TYPE");
}

Option AddMaxLength(Command command, uint32_t* max_length) {
  return command.Under(Heading::kInput)
      .Add("--max-length", max_length,
           "Truncate texts to N tokens, including special tokens; default: the model's maximum");
}

Option AddDimensions(Command command, uint32_t* dimensions) {
  return command.Under(Heading::kOutput)
      .Add("--dimensions", dimensions, "Keep the first N elements of embeddings, normalised again (Matryoshka models)")
      .Range(1, 1 << 20);
}

Option AddPromptName(Command command, std::string* name) {
  return command.Under(Heading::kInput)
      .Add("--prompt-name", name,
           "For embeddings: put this prompt of the model in front of each text; default: the model's\n"
           "default prompt, if it has one (fovea inspect lists prompts); none: no prompt")
      .Placeholder("NAME");
}

Option AddSeconds(Command command, double* seconds, const std::string& help) {
  return command.Under(Heading::kMeasurement).Add("--seconds", seconds, help).Range(0.0, 3600.0).ShowDefault();
}

Option AddJson(Command command, bool* json) {
  return command.Under(Heading::kOutput).AddFlag("--json", json, "Print JSON");
}

void AddJsonList(Command command, ListForm* form) {
  const Options output = command.Under(Heading::kOutput);
  const Option list = output.AddAction(
      "--json", [=] { *form = ListForm::kArray; }, "Print JSON: one array");
  output
      .AddAction(
          "--jsonl", [=] { *form = ListForm::kLines; },
          "Print JSON Lines: an object for each input, on one line, as soon as it is known")
      .Excludes(list);
}

Option AddTextBatch(Command command, uint32_t* texts) {
  return command.Under(Heading::kMachine)
      .Add("--batch", texts, "Run at most N texts at a time, and 4096 tokens; results do not depend on it")
      .Range(1, 4096)
      .ShowDefault();
}

Option AddPackTargets(const Options& options, const std::string& names, std::vector<std::string>* targets,
                      const std::string& help) {
  const std::vector<std::string> known = PackTargets();
  return options.AddRepeated(names, targets, fmt::format("{}:\n{}", help, fmt::join(known, ", ")))
      .OneOf(known)
      .Placeholder("TARGET");
}

Option ModelArguments::AddTo(Command command) {
  const Option blob = AddBlob(command, &path);
  AddHow(command);
  return blob;
}

void ModelArguments::AddOptionTo(Command command, const std::string& name, const std::string& help) {
  command.Under(Heading::kModel).Add(name, &path, help).Placeholder("BLOB");
  AddHow(command);
}

void ModelArguments::AddHow(Command command) {
  command.Under(Heading::kMachine)
      .AddChoice<uint32_t>(
          "--backend", &backend,
          {{"default", FOVEA_BACKEND_DEFAULT}, {"highway", FOVEA_BACKEND_HIGHWAY}, {"xnnpack", FOVEA_BACKEND_XNNPACK}},
          "Backend of matrix products (GEMM): default, highway or xnnpack")
      .Placeholder("NAME");
  command.Under(Heading::kModel)
      .AddFlag("--skip-checksum", &skip_checksum, "Do not verify the checksum, which reads the whole blob");
}

void ModelArguments::AddLiteral(Command command) {
  command.Under(Heading::kInput)
      .AddFlag("--literal", &literal_texts,
               "Special tokens that texts spell, such as </s>, are text; without it they are tokens, as in\n"
               "the original library");
}

Model ModelArguments::Open() const {
  Model::Options options;
  options.backend = backend;
  options.skip_checksum = skip_checksum;
  options.literal_texts = literal_texts;
  return Model(path, options);
}

void ShapeArguments::AddTo(Command command) {
  const Options input = command.Under(Heading::kInput);
  AddProgram(command, &program);
  const Option rows_option =
      input.Add("--rows", &rows, "Rows (tokens) of each text; default: 128, or the model's maximum if less")
          .Range(1, 1 << 24);
  const Option batch_option = input.Add("--batch", &batch, "Number of texts").Range(1, 1 << 20).ShowDefault();
  input.Add("--lengths", &lengths, "Rows of each text, instead of --rows and --batch: 12,40,7")
      .Commas()
      .Range(1, 1 << 24)
      .Excludes(rows_option)
      .Excludes(batch_option);
  AddWorkers(command, &workers);
  command.Under(Heading::kMachine)
      .Add("--tile-rows", &tile_rows, "Process N rows at a time in a phase; default: chosen by the planner")
      .Range(1, 1024);
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

void TextArguments::AddTo(Command command) {
  const Options input = command.Under(Heading::kInput);
  input.AddRepeated("--text", &texts, "A text to read").Placeholder("TEXT");
  input.AddRepeated("--document", &documents, "File whose content is one text").Placeholder("FILE");
  input.Add("--file", &file, "File with one text per line ('-': standard input)").Placeholder("FILE");
}

std::vector<std::string> TextArguments::All() const {
  std::vector<std::string> all;
  TextSource source(*this);
  while (std::optional<std::string> text = source.Next()) all.push_back(std::move(*text));
  return all;
}

TextSource::TextSource(const TextArguments& arguments) : arguments_(arguments) {
  if (!arguments.file.empty()) lines_.emplace(arguments.file);
}

namespace {

[[noreturn]] void FailForUtf8(const std::string& where) {
  Fail("{} is not UTF-8; convert the file, for example with 'iconv -f LATIN1 -t UTF-8'", where);
}

std::string ReadDocument(const std::string& path) {
  std::string text = ReadFile(path);
  if (!IsUtf8(text)) FailForUtf8(path + ": the text");
  return text;
}

}  // namespace

std::optional<std::string> TextSource::Next() {
  const size_t texts = arguments_.texts.size(), documents = arguments_.documents.size();
  if (next_ < texts) return arguments_.texts[next_++];
  if (next_ < texts + documents) return ReadDocument(arguments_.documents[next_++ - texts]);
  std::string line;
  if (!lines_ || !lines_->Next(&line)) return std::nullopt;
  ++line_;
  if (!IsUtf8(line))
    FailForUtf8(fmt::format("{}: line {}", arguments_.file == "-" ? "standard input" : arguments_.file, line_));
  return line;
}

double TextSource::Share() const {
  const bool known = lines_ ? lines_->size() != 0 : true;
  if (!known) return 0;
  const size_t others = arguments_.texts.size() + arguments_.documents.size();
  if (!lines_) return others == 0 ? 0 : static_cast<double>(next_) / static_cast<double>(others);
  return std::min(1.0, static_cast<double>(lines_->bytes()) / static_cast<double>(lines_->size()));
}

}  // namespace fovea::tools
