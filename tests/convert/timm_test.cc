// A directory of timm is converted as the same model with the library's names and configuration is.
#include <algorithm>

#include "tests/convert/architecture_support.h"
#include "tools/convert/description.h"

namespace fovea::tools {
namespace {

class Timm : public Architecture {
 protected:
  // The golden ViT with 12 heads in timm's names: the one of "vit_base".
  void CopyAsTimm() {
    Copy("vit");
    library_ = ReadJson((golden_ / "config.json").string());
    const SafetensorsReader stored(golden_ / "model.safetensors");
    std::map<std::string, std::vector<float>> joined;
    std::map<std::string, std::vector<uint64_t>> shapes;
    for (const auto& [stored_name, tensor] : stored.tensors()) {
      std::string name = stored_name;
      for (const auto& [library, own] : std::vector<std::pair<std::string, std::string>>{
               {"vit.", ""},
               {"embeddings.cls_token", "cls_token"},
               {"embeddings.position_embeddings", "pos_embed"},
               {"embeddings.patch_embeddings.projection", "patch_embed.proj"},
               {"encoder.layer", "blocks"},
               {"layernorm_before", "norm1"},
               {"layernorm_after", "norm2"},
               {"layernorm", "norm"},
               {"attention.output.dense", "attn.proj"},
               {"intermediate.dense", "mlp.fc1"},
               {"output.dense", "mlp.fc2"},
               {"classifier", "head"}}) {
        const size_t at = name.find(library);
        if (at != std::string::npos) name.replace(at, library.size(), own);
      }
      const std::vector<float> values = ToFloats(tensor);
      std::vector<uint64_t> shape = tensor.shape;
      size_t part = 0;
      for (const char* of : {"attention.attention.query", "attention.attention.key", "attention.attention.value"}) {
        const size_t at = name.find(of);
        if (at != std::string::npos) {
          name.replace(at, std::string(of).size(), "attn.qkv");
          std::vector<float>& all = joined[name];
          all.resize(3 * values.size());
          std::copy(values.begin(), values.end(), all.begin() + static_cast<ptrdiff_t>(part * values.size()));
          shape[0] *= 3;
        }
        ++part;
      }
      shapes[name] = shape;
      if (name.find("qkv") == std::string::npos) joined[name] = values;
    }
    SafetensorsWriter writer;
    for (const auto& [name, values] : joined) writer.AddFloats(name, shapes.at(name), values.data());
    Write("model.safetensors", writer.Bytes());
  }
  void WriteConfig(const char* changes = "{}") {
    Json config = {{"architecture", "vit_base_patch4_24"},
                   {"num_features", 1},
                   {"model_args", {{"num_heads", library_["num_attention_heads"]}}},
                   {"pretrained_cfg",
                    {{"input_size", {3, 24, 24}},
                     {"interpolation", "bilinear"},
                     {"crop_pct", 0.9},
                     {"mean", {0.5, 0.25, 0.5}},
                     {"std", {0.5, 0.5, 0.125}}}}};
    config.merge_patch(Json::parse(changes));
    Write("config.json", config.dump());
  }
  std::string Metadata(const Description& description, const std::string& key) const {
    const auto found = description.metadata_index.find(key);
    return found == description.metadata_index.end() ? "" : description.metadata[found->second].second;
  }
  void ExpectRefusal(const std::string& part) {
    try {
      Blob();
      ADD_FAILURE() << part;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
  }
  Json library_;
};

TEST_F(Timm, TheSameModelByOtherNames) {
  Copy("vit");
  Change(R"({"layer_norm_eps": 1e-6})");  // timm's
  const Description golden = Describe(Options());
  std::map<std::string, std::vector<float>> values;
  for (const Operation& operation : golden.programs[0].operations) {
    for (const std::string& name : operation.tensors) {
      if (!name.empty()) values[name] = golden.weights.Get(name).load();
    }
  }
  CopyAsTimm();
  WriteConfig();
  const Description timm = Describe(Options());
  ASSERT_EQ(timm.programs.size(), golden.programs.size());
  const std::vector<Operation>&operations = timm.programs[0].operations, &expected = golden.programs[0].operations;
  ASSERT_EQ(operations.size(), expected.size());
  const auto bare = [](const std::string& name) { return name.compare(0, 4, "vit.") == 0 ? name.substr(4) : name; };
  for (size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(operations[i].op, expected[i].op);
    EXPECT_EQ(operations[i].attributes, expected[i].attributes) << operations[i].out;
    ASSERT_EQ(operations[i].tensors.size(), expected[i].tensors.size());
    for (size_t k = 0; k < operations[i].tensors.size(); ++k) {
      const std::string& name = operations[i].tensors[k];
      EXPECT_EQ(bare(name), bare(expected[i].tensors[k]));
      if (name.empty()) continue;
      EXPECT_EQ(timm.weights.Get(name).load(), values.at(expected[i].tensors[k])) << name;
    }
  }
  EXPECT_FALSE(Blob().empty());
  // floor(24 / 0.9) is 26, then the centre.
  std::string prepared;
  for (const auto& [key, value] : timm.metadata) prepared += key + "=" + value + "\n";
  for (const char* part :
       {"image.resize=shortest 26\n", "image.crop=24 24 even\n", "bilinear", "0.5 0.25 0.5", "0.5 0.5 0.125"}) {
    EXPECT_NE(prepared.find(part), std::string::npos) << part << " in " << prepared;
  }
}

TEST_F(Timm, OtherNetworksAreRefused) {
  CopyAsTimm();
  for (const char* name :
       {"resnet50", "vit_base_patch16_clip_224", "vit_small_patch14_reg4_dinov2", "vit_so400m_patch14"}) {
    WriteConfig(fmt::format(R"({{"architecture": "{}"}})", name).c_str());
    ExpectRefusal(fmt::format("architecture {} of timm is not supported", name));
  }
  WriteConfig(R"({"global_pool": "avg"})");
  ExpectRefusal("global_pool avg is not supported, token is");
  WriteConfig(R"({"model_args": {"act_layer": "quick_gelu"}})");
  ExpectRefusal("model_args: act_layer \"quick_gelu\" is not supported");
}

// The modes of transforms_imagenet_eval: borders have the colour of the means, and a centre that is not square is
// resized bilinearly, which the original does not set.
TEST_F(Timm, CropModes) {
  CopyAsTimm();
  const auto prepared = [&](const std::string& settings) {
    WriteConfig((R"({"pretrained_cfg": )" + settings + "}").c_str());
    const Description timm = Describe(Options());
    std::string all;
    for (const std::string key : {"resize", "filter", "crop", "fill"}) {
      const std::string value = Metadata(timm, "image." + key);
      if (!value.empty()) all += fmt::format("{}={}; ", key, value);
    }
    return all;
  };
  EXPECT_EQ(prepared(R"({"crop_mode": "border", "crop_pct": 0.9, "mean": [0.485, 0.456, 0.406]})"),
            "resize=contain 26 26; filter=bilinear; crop=24 24 even; fill=124 116 104; ");
  EXPECT_EQ(prepared(R"({"crop_mode": "squash", "crop_pct": 1})"),
            "resize=stretch 24 24; filter=bilinear; crop=24 24 even; ");
  EXPECT_EQ(prepared(R"({"crop_mode": "center", "crop_pct": 0.5, "interpolation": "lanczos"})"),
            "resize=shortest 48; filter=lanczos; crop=24 24 even; ");
  EXPECT_EQ(prepared(R"({"input_size": [3, 16, 36], "crop_pct": 0.8, "interpolation": "lanczos"})"),
            "resize=cover 20 45; filter=bilinear; crop=16 36 even; ");
}

// A preparation that is not supported costs only image files.
TEST_F(Timm, OtherPreparationsAreReported) {
  CopyAsTimm();
  const std::pair<const char*, const char*> kSettings[] = {
      {R"({"pretrained_cfg": {"crop_mode": "top"}})", "crop_mode top is unknown; center, border and squash are known"},
      {R"({"pretrained_cfg": {"interpolation": "random"}})", "interpolation random is not supported"},
      {R"({"pretrained_cfg": {"crop_pct": 7}})", "crop_pct"},
      {R"({"pretrained_cfg": {"std": [0, 0, 0]}})", "std must be above 0"}};
  for (const auto& [settings, words] : kSettings) {
    WriteConfig(settings);
    const Description timm = Describe(Options());
    ASSERT_EQ(timm.warnings.size(), 1u) << settings;
    EXPECT_EQ(timm.warnings[0].find("the blob accepts only pixel values: "), 0u) << timm.warnings[0];
    EXPECT_NE(timm.warnings[0].find(words), std::string::npos) << timm.warnings[0];
    EXPECT_EQ(timm.metadata_index.count("image.crop"), 0u) << settings;
  }
}

}  // namespace
}  // namespace fovea::tools
