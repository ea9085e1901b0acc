// Converts a GGUF file to a description.
#include "tools/convert/gguf/describe.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/architecture.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {
namespace {

void RefuseOtherFiles(const GgufMetadata& metadata) {
  const std::string type = metadata.Get("general.type").Text("model");
  if (type != "model") Fail("{}: general.type {} is not supported, model is", metadata.path(), type);
}

// Sets the metadata that tools/text/chat_format.h reads.
void SetChat(const GgufMetadata& metadata, Description* description) {
  const std::string source = metadata.Get("tokenizer.chat_template").Bytes("");
  if (source.empty()) return;
  description->SetMetadata("chat_template", source);
  description->SetMetadata("chat_special_tokens", "tokenizer");
  const JsonView tokens = metadata.Get("tokenizer.ggml.tokens");
  for (const auto& [key, name] : {std::pair{"chat_bos", "bos"}, {"chat_eos", "eos"}}) {
    const Json& id = metadata.Get(fmt::format("tokenizer.ggml.{}_token_id", name)).json();
    if (!id.is_number_unsigned() || tokens.IsNull() || id.get<uint64_t>() >= tokens.List().size()) continue;
    description->SetMetadata(key, tokens.At(id.get<size_t>()).Bytes());
  }
}

Description Describe(std::shared_ptr<const GgufReader> file, const std::string& task) {
  const GgufMetadata metadata(file);
  RefuseOtherFiles(metadata);
  const GgufArchitecture& architecture = GgufArchitectureOf(metadata);
  const Json config = GgufConfig(architecture, metadata, file->tensors());
  const std::string pooling = task.empty() ? GgufPooling(metadata) : "";
  const auto add = [&](Weights& weights, Findings&) { AddGgufWeights(architecture, config, file, weights); };
  Reading reading;
  reading.task = task;
  reading.backbone = !pooling.empty();
  Description description = DescribeModel({config, metadata.path()}, "", add, reading);
  if (!pooling.empty()) {
    Program& encode = description.programs[0];
    description.SetMetadata("task", "embedding");
    encode.operations.push_back(
        {"pool", {encode.operations.back().out}, {}, "sentence_embedding", {{"kind", pooling}}});
    encode.outputs = {"sentence_embedding"};
  }
  description.single_file = true;
  // As for directories, a tokenizer that cannot be read is not an error.
  try {
    description.text = ReadGgufTokenizer(metadata);
  } catch (const Failure& failure) {
    description.warnings.push_back(fmt::format("the blob accepts only token ids: {}", failure.what()));
  }
  SetChat(metadata, &description);
  for (const std::string& key : metadata.Unread()) {
    description.warnings.push_back(fmt::format("{}: {} is unknown and was ignored", metadata.path(), key));
  }
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
    Fail("{}: {}", path, what);
  }
}

}  // namespace fovea::tools
