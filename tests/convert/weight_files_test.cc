// The files that hold a directory's weights: each form gives the same blob as the golden model's model.safetensors.
#include <algorithm>

#include "tests/convert/architecture_support.h"
#include "tests/support/torch_writer.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

class WeightFiles : public Architecture {
 protected:
  Tensors Golden() const {
    Tensors tensors;
    const SafetensorsReader stored(golden_ / "model.safetensors");
    for (const auto& [name, tensor] : stored.tensors()) tensors[name] = {tensor.shape, ToFloats(tensor)};
    return tensors;
  }
  static std::string Torch(const Tensors& tensors) {
    std::vector<test::torch::Floats> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor.first, tensor.second});
    return test::torch::StateDictFile(all);
  }
  static std::string Safetensors(const Tensors& tensors) {
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) writer.AddFloats(name, tensor.first, tensor.second.data());
    return writer.Bytes();
  }
  static Tensors Half(const Tensors& tensors, bool first) {
    Tensors half;
    size_t i = 0;
    for (const auto& entry : tensors) {
      if ((i++ < tensors.size() / 2) == first) half.insert(entry);
    }
    return half;
  }
  void Remove(const char* file = "model.safetensors") { fs::remove(directory_ / file); }
  static Tensors Renamed(const Tensors& tensors, const std::function<std::string(const std::string&)>& name) {
    Tensors renamed;
    for (const auto& [old, tensor] : tensors) renamed[name(old)] = tensor;
    return renamed;
  }
  void ExpectSays(const std::string& part) const {
    const auto says = [&](const Finding& finding) { return finding.text.find(part) != std::string::npos; };
    EXPECT_TRUE(std::any_of(report_.findings.begin(), report_.findings.end(), says)) << part;
  }
  std::string Refusal() {
    try {
      Blob();
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "nothing was refused";
  }
  void ExpectRefusal(const std::string& part) {
    const std::string said = Refusal();
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
};

TEST_F(WeightFiles, OfTorchInOneFileOrInShards) {
  Copy("bert");
  const std::vector<uint8_t> golden = Blob();
  const Tensors tensors = Golden();
  // Safetensors are first, as in the original library.
  Write("pytorch_model.bin", "not read");
  EXPECT_EQ(Blob(), golden);
  ExpectSays("pytorch_model.bin: model.safetensors is read in its place");
  Remove();
  Write("pytorch_model.bin", Torch(tensors));
  EXPECT_EQ(Blob(), golden);
  ExpectSays("pytorch_model.bin");
  Remove("pytorch_model.bin");
  for (const auto& [front, end] :
       {std::pair<std::string, std::string>{"pytorch_model", "bin"}, {"model", "safetensors"}}) {
    const std::string first = front + "-00001-of-00002." + end, second = front + "-00002-of-00002." + end,
                      index = front + "." + end + ".index.json";
    const bool torch = end == "bin";
    const auto bytes = [&](bool of) { return torch ? Torch(Half(tensors, of)) : Safetensors(Half(tensors, of)); };
    Write(first, bytes(true));
    ExpectRefusal("has 1 of 2 shards of its weights and no index");
    Write(index, R"({"weight_map": {"a": ")" + first + R"(", "b": ")" + second + R"("}})");
    ExpectRefusal(index + ": lists " + second);
    Write(second, bytes(false));
    EXPECT_EQ(Blob(), golden);
    ExpectSays(index + " lists 2 tensors that no shard has, such as a");
    Write(index, R"({"weight_map": {}})");
    ExpectRefusal("lists no file");
    Write(index, R"({"weight_map": {"a": "../x"}})");
    ExpectRefusal("is not a file beside it");
    Remove(index.c_str());
    EXPECT_EQ(Blob(), golden);
    ExpectSays("there is no index");
    Remove(first.c_str());
    Remove(second.c_str());
  }
}

TEST_F(WeightFiles, Variants) {
  Copy("bert");
  const std::vector<uint8_t> golden = Blob();
  fs::rename(directory_ / "model.safetensors", directory_ / "model.fp16.safetensors");
  EXPECT_EQ(Blob(), golden);
  ExpectSays("model.fp16.safetensors (variant fp16, as there are no files without a variant)");
  Write("model.fp32.safetensors", Safetensors(Golden()));
  Write("model.fp16.safetensors", "not read");
  EXPECT_EQ(Blob(), golden);
  ExpectSays("variant fp32 of fp16, fp32");
}

TEST_F(WeightFiles, NamesOfWrappers) {
  Copy("bert");
  const std::vector<uint8_t> golden = Blob();
  const Tensors tensors = Golden();
  for (const char* prefix : {"module.", "_orig_mod.", "0.auto_model.", "base_model.model."}) {
    Write("model.safetensors", Safetensors(Renamed(tensors, [&](const std::string& name) { return prefix + name; })));
    EXPECT_EQ(Blob(), golden) << prefix;
    ExpectSays(fmt::format("all tensors are named {}...", prefix));
  }
  // Not all: then it is no wrapper.
  Tensors mixed = Renamed(tensors, [](const std::string& name) { return "module." + name; });
  mixed["x"] = {{1}, {1}};
  Write("model.safetensors", Safetensors(mixed));
  ExpectRefusal("no tensor");
  // Names of the library that all tensors share are kept.
  Copy("llama");
  Blob("embedding");
  for (const Finding& finding : report_.findings) EXPECT_EQ(finding.text.find("dropped"), std::string::npos);
}

// Mistral's names, and rows of queries and keys as pairs.
TEST_F(WeightFiles, Consolidated) {
  Copy("llama");
  const std::vector<uint8_t> golden = Blob();
  const Json config = ReadJson((golden_ / "config.json").string());
  const std::vector<std::pair<std::string, std::string>> names = {{"model.", ""},
                                                                  {"embed_tokens", "tok_embeddings"},
                                                                  {"lm_head", "output"},
                                                                  {"self_attn.q_proj", "attention.wq"},
                                                                  {"self_attn.k_proj", "attention.wk"},
                                                                  {"self_attn.v_proj", "attention.wv"},
                                                                  {"self_attn.o_proj", "attention.wo"},
                                                                  {"input_layernorm", "attention_norm"},
                                                                  {"post_attention_layernorm", "ffn_norm"},
                                                                  {"mlp.gate_proj", "feed_forward.w1"},
                                                                  {"mlp.down_proj", "feed_forward.w2"},
                                                                  {"mlp.up_proj", "feed_forward.w3"}};
  Tensors mistral;
  for (const auto& [golden_name, golden_tensor] : Golden()) {
    std::string name = golden_name;
    auto tensor = golden_tensor;
    const bool queries = name.find("q_proj") != std::string::npos, keys = name.find("k_proj") != std::string::npos;
    for (const auto& [library, own] : names) {
      const size_t at = name.find(library);
      if (at != std::string::npos) name.replace(at, library.size(), own);
    }
    if (queries || keys) {
      const uint64_t heads = config[queries ? "num_attention_heads" : "num_key_value_heads"].get<uint64_t>(),
                     width = tensor.first[0] / heads, columns = tensor.first[1];
      const std::vector<float> halves = tensor.second;
      for (uint64_t h = 0; h < heads; ++h) {
        for (uint64_t i = 0; i < width / 2; ++i) {
          for (uint64_t half = 0; half < 2; ++half) {
            std::copy_n(&halves[(h * width + half * (width / 2) + i) * columns], columns,
                        &tensor.second[(h * width + 2 * i + half) * columns]);
          }
        }
      }
    }
    mistral[name] = tensor;
  }
  Remove();
  Write("consolidated.safetensors", Safetensors(mistral));
  EXPECT_EQ(Blob(), golden);
  Remove("consolidated.safetensors");
  Write("consolidated.00.pth", Torch(mistral));
  EXPECT_EQ(Blob(), golden);
  mistral["layers.0.attention.qscale_act"] = {{1}, {1}};
  Write("consolidated.00.pth", Torch(mistral));
  ExpectRefusal("tensor layers.0.attention.qscale_act of consolidated weights has no name in the library");
}

TEST_F(WeightFiles, ElementsOfEightBits) {
  Copy("bert");
  // Values that f8 holds exactly.
  const float ones = 1;
  Tensors tensors = Golden();
  const std::string bias = "encoder.layer.0.output.dense.bias";
  std::vector<float>& values = tensors.at(bias).second;
  std::string e4m3, e5m2;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 3 == 0 ? ones : i % 3 == 1 ? -0.5f : 0x1p-6f;
    e4m3 += "\x38\xb0\x08"[i % 3];
    e5m2 += "\x3c\xb8\x24"[i % 3];
  }
  Write("model.safetensors", Safetensors(tensors));
  const std::vector<uint8_t> golden = Blob();
  for (const bool first : {true, false}) {
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : tensors) {
      if (name == bias) {
        writer.Add(name, first ? ElementType::kF8E4M3 : ElementType::kF8E5M2, tensor.first,
                   (first ? e4m3 : e5m2).data());
      } else {
        writer.AddFloats(name, tensor.first, tensor.second.data());
      }
    }
    Write("model.safetensors", writer.Bytes());
    EXPECT_EQ(Blob(), golden);
  }
  std::string unknown = Safetensors(tensors);
  unknown.replace(unknown.find("\"F32\""), 5, "\"F4\" ");
  Write("model.safetensors", unknown);
  ExpectRefusal("element type F4 is not supported; F64, F32");
}

TEST_F(WeightFiles, UnusedTensorsAreNamedWithTheWayOut) {
  Copy("bert");
  const std::vector<uint8_t> golden = Blob();
  ChangeWeights([](Tensors& tensors) { tensors["encoder.layer.0.attention.self.extra"] = {{1}, {1}}; });
  ExpectRefusal("--ignore 'encoder.layer.0.attention.self.extra' leaves it out");
  ConvertOptions options = Options();
  options.ignored = {"*.self.ex*a"};
  EXPECT_EQ(BuildBlob(Describe(options), options, report_), golden);
  options.ignored = {"*.self.ex"};
  EXPECT_THROW(BuildBlob(Describe(options), options, report_), Failure);
}

TEST_F(WeightFiles, OtherKindsAreNamed) {
  struct Case {
    std::vector<const char*> files;
    const char* message;
    bool with_config = false;
  };
  const std::vector<Case> cases = {
      {{"tf_model.h5"}, "is a TensorFlow model (tf_model.h5)", true},
      {{"flax_model.msgpack"}, "from_flax=True", true},
      {{"onnx/model.onnx"}, "is an ONNX graph (onnx/model.onnx)", true},
      {{"model.bin", "vocabulary.json"}, "is a CTranslate2 model (model.bin)", true},
      {{"x.gguf"}, "fovea convert FILE.gguf", true},
      {{"a.nemo"}, "is a NeMo archive"},
      {{"ggml-tiny.bin"}, "is a model of whisper.cpp"},
      {{"gliner_config.json", "pytorch_model.bin"}, "is a GLiNER model"},
      {{"model_index.json"}, "is a diffusers pipeline"},
      {{"config.yaml", "pytorch_model.bin"}, "is a pyannote"},
      {{"weights.npz"}, "is an MLX model", true},
      {{"open_clip_config.json"}, "is an OpenCLIP model"},
      {{"openvino_model.xml"}, "is an OpenVINO model", true},
      {{"meta.json", "config.cfg"}, "is a spaCy pipeline"},
      {{"cc.en.300.bin"}, "is a fastText model"},
      {{"stories15M.bin", "tok512.bin"}, "is a model of llama2.c"},
      {{"x.ckpt"}, "is a training checkpoint"},
      {{"params.json"}, "params.json is in the format of Mistral or Meta"},
      {{"readme.txt"}, "has no config.json"},
      {{"readme.txt"}, "has no model.safetensors or pytorch_model.bin", true},
      {{"other.safetensors"}, "other.safetensors is not a name that the original library reads", true},
      {{"text/model.safetensors"}, "text/model.safetensors is in a folder", true},
      {{}, "is empty"},
  };
  for (const Case& c : cases) {
    Copy("bert");
    Remove();
    if (!c.with_config) Remove("config.json");
    for (const char* file : c.files) Write(file, "{}");
    ExpectRefusal(c.message);
  }
  Copy("bert");
  Write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  ExpectRefusal("model.safetensors: is a pointer of Git LFS, the file itself was not downloaded; run: git lfs pull");
}

TEST_F(WeightFiles, FilesInPlaceOfADirectory) {
  Copy("bert");
  for (const auto& [file, message] : std::vector<std::pair<const char*, const char*>>{
           {"model.safetensors", "is a file of weights; give its directory"},
           {"pytorch_model.bin", "is a file of weights; give its directory"},
           {"config.json", "is a file of a model directory; give the directory"},
           {"x.zip", "is an archive; unpack it first"},
           {"x.onnx", "is an ONNX graph"},
           {"ggml-x.bin", "is a model of whisper.cpp"},
           {"missing", "No such file or directory; give a model directory"}}) {
    ConvertOptions options;
    options.input = (directory_ / file).string();
    if (std::string(file) != "missing" && !fs::exists(directory_ / file)) Write(file, "x");
    try {
      Describe(options);
      ADD_FAILURE() << file;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(message), std::string::npos) << failure.what();
    }
  }
}

}  // namespace
}  // namespace fovea::tools
