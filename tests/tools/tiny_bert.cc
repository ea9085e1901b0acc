// A tiny classifier of random weights.
#include "tests/tools/tiny_bert.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "tools/base/mapped_file.h"
#include "tools/commands/commands.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "fovea-tools-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void WriteText(const fs::path& path, const std::string& text) {
  tools::WriteFile(path.string(), text.data(), text.size());
}

void WriteDirectory(const fs::path& folder, const std::string& head) {
  constexpr uint64_t kWidth = 8, kInner = 16;
  fs::create_directories(folder);
  const bool scores = head == "score";
  const std::string model_class = head == "sequence" || scores ? "BertForSequenceClassification"
                                  : head == "token"            ? "BertForTokenClassification"
                                                               : "BertModel";
  WriteText(folder / "config.json",
            R"({"model_type":"bert","architectures":[")" + model_class +
                R"("],"vocab_size":12,"hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,)"
                R"("intermediate_size":16,"max_position_embeddings":16,"type_vocab_size":2,"hidden_act":"gelu",)"
                R"("layer_norm_eps":1e-12,"pad_token_id":0,"id2label":)" +
                (scores ? R"({"0":"near"}})" : R"({"0":"animal","1":"food","2":"place"}})"));
  WriteText(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\n##s\nsoup\nin\nthe\nharbour\n");
  WriteText(folder / "tokenizer_config.json", R"({"do_lower_case":true,"tokenizer_class":"BertTokenizer"})");

  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.4f);
  tools::SafetensorsWriter writer;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape, float mean) {
    size_t count = 1;
    for (const uint64_t size : shape) count *= size;
    std::vector<float> values(count);
    for (float& value : values) value = mean + normal(random);
    writer.AddFloats(name, shape, values.data());
  };
  const auto linear = [&](const std::string& name, uint64_t out, uint64_t in) {
    add(name + ".weight", {out, in}, 0);
    add(name + ".bias", {out}, 0);
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {kWidth}, 1);
    add(name + ".bias", {kWidth}, 0);
  };
  const std::string prefix = head == "base" ? "" : "bert.";
  add(prefix + "embeddings.word_embeddings.weight", {kTinyVocabulary, kWidth}, 0);
  add(prefix + "embeddings.position_embeddings.weight", {kTinyPositions, kWidth}, 0);
  add(prefix + "embeddings.token_type_embeddings.weight", {2, kWidth}, 0);
  norm(prefix + "embeddings.LayerNorm");
  for (int i = 0; i < 2; ++i) {
    const std::string layer = prefix + "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) linear(layer + "attention.self." + part, kWidth, kWidth);
    linear(layer + "attention.output.dense", kWidth, kWidth);
    norm(layer + "attention.output.LayerNorm");
    linear(layer + "intermediate.dense", kInner, kWidth);
    linear(layer + "output.dense", kWidth, kInner);
    norm(layer + "output.LayerNorm");
  }
  if (head != "token") linear(prefix + "pooler.dense", kWidth, kWidth);
  if (head != "base") linear("classifier", scores ? 1 : kTinyClasses, kWidth);
  writer.Write((folder / "model.safetensors").string());
}

}  // namespace

std::string Temporary(const std::string& name) {
  static const TemporaryFolder folder;
  return (folder.path() / name).string();
}

const std::string& TinyBlob(const std::string& head) {
  static std::map<std::string, std::string> blobs;
  std::string& blob = blobs[head];
  if (blob.empty()) {
    const std::string folder = Temporary("bert-" + head);
    WriteDirectory(folder, head);
    blob = Temporary(head + ".fovea");
    const CommandResult converted = Fovea({"convert", folder, "-o", blob});
    EXPECT_EQ(converted.status, 0) << converted.err;
  }
  return blob;
}

}  // namespace fovea::test
