// Model directories and descriptions: conversion ends in a blob that verifies and runs, or in one line that names the
// place and the fault.
#include <stdlib.h>
#include <string.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/fuzz/blob_use.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/conversion_files.h"
#include "tests/fuzz/harness.h"
#include "tests/support/gguf_models.h"
#include "tests/support/paths.h"
#include "tests/text/fixtures.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/convert/convert.h"
#include "tools/convert/description.h"

namespace fovea::fuzz {
namespace {

namespace fs = std::filesystem;

// A folder with these files, for as long as it lives.
class Folder {
 public:
  explicit Folder(const Files& files) {
    std::string pattern = (fs::temp_directory_path() / "fovea-fuzz-XXXXXX").string();
    Check(mkdtemp(pattern.data()) != nullptr, "no temporary folder");
    path_ = pattern;
    for (const auto& [name, bytes] : files) {
      std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// One line, of text alone.
void CheckMessage(const std::string& text) {
  Check(!text.empty(), "an error without a message");
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) Broken("an error's message has control characters: " + text);
  }
}

tools::ConvertOptions OptionsOf(const Files& files, const fs::path& folder, Random& random) {
  static constexpr DType kWeights[] = {DType::kF32, DType::kF32, DType::kF16, DType::kI8, DType::kI4};
  static constexpr DType kKeys[] = {DType::kF32, DType::kF32, DType::kF16, DType::kBf16, DType::kI8};
  tools::ConvertOptions options;
  const bool described = files.count("graph.json") != 0, single = files.count("model.gguf") != 0;
  options.input = described ? (folder / "graph.json").string()
                  : single  ? (folder / "model.gguf").string()
                            : folder.string();
  options.weights = random.Pick(kWeights);
  options.keys = random.Pick(kKeys);
  if (random.OneIn(8)) options.pack = {"host"};
  options.compare = random.OneIn(8) ? tools::Comparison::kQuick : tools::Comparison::kNone;
  if (described || single) return options;
  if (files.count("adapter_config.json") != 0) options.adapter = folder.string();
  if (random.OneIn(8)) options.task = "encoder";
  if (random.OneIn(16)) options.image_sizes = {"16x24"};
  return options;
}

void Use(const uint8_t* data, size_t size) {
  const Files files = FilesOf(data, size);
  if (files.empty()) return;
  uint64_t seed = 0;
  memcpy(&seed, data, sizeof(seed));
  const Folder folder(files);
  Random random(seed);
  std::vector<uint8_t> blob;
  try {
    const tools::ConvertOptions options = OptionsOf(files, folder.path(), random);
    tools::ConvertReport report;
    blob = tools::BuildBlob(tools::Describe(options), options, report);
    for (const std::string& warning : report.warnings) CheckMessage(warning);
  } catch (const tools::Failure& failure) {
    CheckMessage(failure.what());
    return;
  }
  Transcript transcript;
  const UsedModel model(blob.data(), blob.size(), Filling::kOnes, transcript);
  Check(fovea_blob_verify(Guarded(blob.data(), blob.size()).data(), blob.size(), nullptr) == FOVEA_OK,
        "the converter made a blob that does not verify");
  if (model.get() == nullptr) return;
  Inspect(model.get(), transcript);
  UsePrograms(model.get(), seed, {}, {}, transcript);
  UseGenerator(model.get(), seed, {}, {}, transcript);
  CheckGenerator(model.get(), seed);
}

Input Mutate(const Input& input, Random& random) {
  uint64_t seed = 0;
  memcpy(&seed, input.data(), sizeof(seed));
  Files files = FilesOf(input.data(), input.size());
  if (random.OneIn(4)) seed = random.Next();
  for (uint32_t left = 1 + random.Below(2); left > 0; --left) MutateFiles(files, random);
  return Joined(seed, files);
}

Files Read(const std::string& folder, std::initializer_list<const char*> names) {
  Files files;
  for (const char* name : names) files[name] = tools::ReadFile(test::InSource(folder + "/" + name));
  return files;
}

// A SentencePiece model of a few unigrams (sentencepiece_model.proto).
std::string SmallPieces() {
  constexpr std::pair<const char*, char> kPieces[] = {{"<pad>", 3},
                                                      {"</s>", 3},
                                                      {"<unk>", 2},
                                                      {"\xe2\x96\x81", 1},
                                                      {"a", 1},
                                                      {"\xe2\x96\x81"
                                                       "a",
                                                       1},
                                                      {"b", 1}};
  const auto field = [](char number, const std::string& data) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(data.size()) + data;
  };
  std::string bytes;
  for (const auto& [piece, type] : kPieces) {
    bytes += field(1, field(1, piece) + "\x15" + std::string("\0\0\x80\xbf", 4) + "\x18" + type);  // score -1
  }
  return bytes + field(2, "\x18\x01");
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  Files bert = Read("tests/data/hf/bert-tokcls", {"config.json", "model.safetensors"});
  bert["tokenizer.json"] = test::WordPieceJson().dump();
  seeds.push_back(Joined(1, bert));
  // Files of processors, in both forms.
  Files pictures = Read("tests/data/hf/vit", {"config.json", "model.safetensors"});
  const std::string settings =
      R"({"image_processor_type": "ViTImageProcessor", "do_resize": true, "size": {"height": 24, "width": 24},
          "resample": 2, "do_center_crop": true, "crop_size": 24, "do_rescale": true, "rescale_factor": 0.0039,
          "do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})";
  pictures["preprocessor_config.json"] = settings;
  seeds.push_back(Joined(0, pictures));
  pictures["processor_config.json"] = R"({"processor_class": "ViTProcessor", "image_processor": )" + settings + "}";
  seeds.push_back(Joined(0, pictures));
  Files sounds = Read("tests/data/hf/wav2vec2-ctc", {"config.json", "model.safetensors"});
  sounds["preprocessor_config.json"] =
      R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": true, "feature_size": 1,
          "padding_side": "right", "padding_value": 0.0, "return_attention_mask": false, "sampling_rate": 16000})";
  seeds.push_back(Joined(0, sounds));
  for (const char* example :
       {"luong-dot", "additive-attention", "hierarchy-han", "coarse-lexical", "gru-seq2seq", "named-blocks"}) {
    seeds.push_back(Joined(
        seeds.size(), Read(std::string("tools/convert/examples/") + example, {"graph.json", "model.safetensors"})));
  }
  Files decoder = Read("tools/convert/examples/gru-seq2seq", {"graph.json", "model.safetensors"});
  nlohmann::ordered_json graph = nlohmann::ordered_json::parse(decoder["graph.json"]);
  graph["metadata"] = {{"generate.token", "token"},
                       {"generate.scores", "logits"},
                       {"generate.start", 1},
                       {"generate.stop_ids", "0 3"},
                       {"generate.link.state", "first_state"},
                       {"generate.link.keys", "keys"},
                       {"generate.link.memory", "memory"},
                       {"generate.max_tokens", 12}};
  decoder["graph.json"] = graph.dump();
  seeds.push_back(Joined(seeds.size(), decoder));
  // Tokenizers alone.
  Files tokenizer = Read("tools/convert/examples/luong-dot", {"graph.json", "model.safetensors"});
  for (nlohmann::json (*json)() : {&test::WordPieceJson, &test::UnigramJson, &test::BytePairJson}) {
    tokenizer["tokenizer.json"] = json().dump();
    seeds.push_back(Joined(0, tokenizer));
  }
  // Directories without tokenizer.json.
  Files pieces = Read("tests/data/hf/bert-tokcls", {"config.json", "model.safetensors"});
  pieces["spiece.model"] = SmallPieces();
  pieces["tokenizer_config.json"] = R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 2})";
  seeds.push_back(Joined(0, pieces));
  Files merges = Read("tests/data/hf/bert-tokcls", {"config.json", "model.safetensors"});
  merges["vocab.json"] = R"({"<|endoftext|>": 0, "h": 1, "i": 2, "hi": 3})";
  merges["merges.txt"] = "#version: 0.2\nh i\n";
  merges["tokenizer_config.json"] = R"({"tokenizer_class": "GPT2Tokenizer"})";
  seeds.push_back(Joined(0, merges));
  for (const Files& model : AdaptedModels()) seeds.push_back(Joined(0, model));
  // Files of one piece.
  test::GgufWriter llama = test::GgufOfDirectory(test::InData("hf/llama"), "llama", 2);
  test::AddBytePairs(test::InData("tokenizers/bpe-gpt2/tokenizer.json"), "gpt-2", &llama);
  seeds.push_back(Joined(0, {{"model.gguf", llama.Bytes()}}));
  seeds.push_back(Joined(0, {{"model.gguf", test::GgufOfDirectory(test::InData("hf/bert"), "bert").Bytes()}}));
  // Blocks of every type that rows of 32 numbers can have.
  constexpr std::pair<uint32_t, size_t> kBlocks[] = {{3, 20}, {6, 22}, {7, 24}, {9, 36}, {20, 18}, {39, 17}};
  test::GgufWriter mixed = test::GgufOfDirectory(test::InData("hf/llama"), "llama", 2);
  size_t next = 0;
  for (test::GgufEntry& entry : mixed.entries) {
    if (entry.type != 2) continue;
    const auto& [type, bytes] = kBlocks[next++ % std::size(kBlocks)];
    entry.bytes = std::string(entry.bytes.size() / 18 * bytes, '\1');
    entry.type = type;
  }
  seeds.push_back(Joined(0, {{"model.gguf", mixed.Bytes()}}));
  return seeds;
}

}  // namespace

const Harness kConversionHarness = {"conversion", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
