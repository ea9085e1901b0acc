// Converts a GGUF file to a description.
#include "tools/convert/gguf/describe.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/gguf/parts.h"
#include "tools/convert/text/chat_files.h"

namespace fovea::tools {
namespace {

// Files that belong to a model, but are not one.
void RefuseOtherFiles(const GgufMetadata& metadata) {
  const std::string type = metadata.Get("general.type").Text("model");
  if (type == "model") return;
  const std::string what =
      type == "adapter" ? ": a LoRA adapter has no weights of the model; convert the directory of the model, with "
                          "--adapter and the directory of the adapter"
      : type == "mmproj"
          ? ": it is the part of a model that reads images or audio; convert the directory of the whole model"
          : ", model is";
  Fail("{}: general.type {} is not supported{}", metadata.path(), type, what);
}

// Sets the metadata that tools/text/chat_format.h reads.
void SetChat(const GgufMetadata& metadata, Description* description) {
  const JsonView names = metadata.Get("tokenizer.chat_templates");
  std::vector<std::pair<std::string, std::string>> named, entries;
  for (size_t i = 0; !names.IsNull() && i < names.List().size(); ++i) {
    const std::string name = names.At(i).Bytes();
    named.emplace_back(name, metadata.Get("tokenizer.chat_template." + name).Bytes(""));
  }
  const std::string source = metadata.Get("tokenizer.chat_template").Bytes("");
  if (source.empty()) return;
  description->SetMetadata("chat_template", source);
  description->findings.push_back(TemplateFinding("tokenizer.chat_template", source));
  AddNamedTemplates(named, &entries, &description->findings);
  for (const auto& [key, other] : entries) description->SetMetadata(key, other);
  description->SetMetadata("chat_special_tokens", "tokenizer");
  const JsonView tokens = metadata.Get("tokenizer.ggml.tokens");
  for (const auto& [key, name] : {std::pair{"chat_bos", "bos"}, {"chat_eos", "eos"}}) {
    const Json& id = metadata.Get(fmt::format("tokenizer.ggml.{}_token_id", name)).json();
    if (!id.is_number_unsigned() || tokens.IsNull() || id.get<uint64_t>() >= tokens.List().size()) continue;
    description->SetMetadata(key, tokens.At(id.get<size_t>()).Bytes());
  }
}

// The end of an encoder of texts: pooled rows, then EmbeddingGemma's linear layers.
void AddPooling(const std::string& kind, Description* description) {
  Program& encode = description->programs[0];
  description->SetMetadata("task", "embedding");
  std::string value = encode.operations.back().out;
  const auto add = [&](const std::string& op, const std::vector<std::string>& tensors, const Json& attributes) {
    const std::string out = fmt::format("module.{}", encode.operations.size());
    encode.operations.push_back({op, {value}, tensors, out, attributes});
    value = out;
  };
  add("pool", {}, {{"kind", kind}});
  for (const char* dense : {"dense_2", "dense_3"}) {
    const std::string weight = dense + std::string(".weight"), bias = dense + std::string(".bias");
    if (!description->weights.Has(weight)) continue;
    std::vector<std::string> tensors = {weight};
    if (description->weights.Has(bias)) tensors.push_back(bias);
    add("linear", tensors, {{"activation", "none"}});
  }
  encode.operations.back().out = "sentence_embedding";
  encode.outputs = {"sentence_embedding"};
}

Description Describe(std::shared_ptr<const GgufReader> file, const std::string& task) {
  const GgufMetadata metadata(file);
  RefuseOtherFiles(metadata);
  const GgufArchitecture architecture = GgufArchitectureOf(metadata);
  const Json config = GgufConfig(architecture, metadata, file->tensors());
  const bool classifier = file->tensors().count("cls.output.weight") != 0;
  const std::string pooling = task.empty() && !classifier ? GgufPooling(metadata) : "";
  const auto add = [&](Weights& weights, Findings&) { AddGgufWeights(architecture, file, weights); };
  Reading reading;
  reading.task = task;
  reading.backbone = !pooling.empty();
  Description description = DescribeModel({config, metadata.path()}, "", add, reading);
  AddGgufFindings(config, metadata, *file, &description.findings);
  if (!pooling.empty()) AddPooling(pooling, &description);
  if (!metadata.Own("attention.temperature_scale").IsNull()) {
    description.warnings.push_back(
        fmt::format("{}: {}.attention.temperature_scale: scores are not scaled after the first {} tokens, as in the "
                    "original; keep texts shorter",
                    metadata.path(), metadata.architecture(), config["max_position_embeddings"].dump()));
  }
  description.single_file = true;
  // As for directories, a tokenizer that cannot be read is not an error.
  try {
    description.text = ReadGgufTokenizer(metadata);
  } catch (const Failure& failure) {
    description.warnings.push_back(fmt::format("the blob accepts only token ids: {}", failure.what()));
  }
  SetChat(metadata, &description);
  AddUnreadKeys(metadata, &description.findings, &description.warnings);
  return description;
}

}  // namespace

Description DescribeGguf(const std::string& path, const std::string& task) {
  const auto file = std::make_shared<const GgufReader>(path);
  try {
    return Describe(file, task);
  } catch (const Failure& failure) {
    // Messages of architectures name config.json; replaces it by this file.
    const std::string what = failure.what();
    if (what.compare(0, path.size(), path) == 0) throw;
    if (what.compare(0, 10, "no tensor ") == 0) {
      Fail("{}: {}: the file does not have all tensors of its architecture; convert the model's directory", path, what);
    }
    Fail("{}: {}", path, what);
  }
}

}  // namespace fovea::tools
