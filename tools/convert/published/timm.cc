// The original: timm/models/vision_transformer.py (VisionTransformer), timm/data/config.py (resolve_data_config) and
// timm/data/transforms_factory.py (transforms_imagenet_eval).
#include "tools/convert/published/timm.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/image_settings.h"
#include "tools/convert/constants.h"
#include "tools/convert/published/weight_files.h"
#include "tools/image/preparation.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;
using Fit = Preparation::Fit;

// Heads of the sizes, which no file states.
constexpr std::pair<const char*, uint32_t> kHeads[] = {
    {"vit_tiny", 3},   {"vit_small", 6}, {"vit_medium", 8}, {"vit_base", 12},  {"vit_large", 16},   {"vit_huge", 16},
    {"vit_giant", 16}, {"deit_tiny", 3}, {"deit_small", 6}, {"deit_base", 12}, {"vit_gigantic", 16}};

// Names after "blocks.N.", and of the model.
constexpr std::pair<const char*, const char*> kLayer[] = {{"norm1", "layernorm_before"},
                                                          {"norm2", "layernorm_after"},
                                                          {"attn.proj", "attention.output.dense"},
                                                          {"mlp.fc1", "intermediate.dense"},
                                                          {"mlp.fc2", "output.dense"}};
constexpr std::pair<const char*, const char*> kModel[] = {
    {"cls_token", "embeddings.cls_token"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
    {"norm", "layernorm"},
    {"head", "classifier"}};

class Timm {
 public:
  explicit Timm(const std::string& directory)
      : directory_(directory),
        path_((Utf8Path(directory) / "config.json").string()),
        json_(ReadJson(path_)),
        config_(json_, path_),
        architecture_(config_["architecture"].Text()) {}

  Description Describe(const Reading& reading) {
    CheckArchitecture();
    if (!reading.adapter.empty()) Fail("{}: --adapter is not supported for models of timm; leave it out", path_);
    const auto add = [&](Weights& weights, Findings& findings) {
      AddWeightFiles(directory_, "", weights, findings);
      for (const std::string& pattern : reading.ignored) weights.Ignore(pattern);
      Rename(weights);
    };
    Weights shapes;
    Findings ignored;
    AddWeightFiles(directory_, "", shapes, ignored);
    Description description = DescribeModel(Config(VitConfig(shapes), path_), directory_, add, reading);
    try {
      for (const auto& [key, value] : ToMetadata(ReadPreparation())) description.SetMetadata(key, value);
    } catch (const Failure& failure) {
      description.warnings.push_back(fmt::format("the blob accepts only pixel values: {}", failure.what()));
    }
    description.findings.insert(description.findings.begin(), {Topic::kFiles, "config.json (timm)"});
    return description;
  }

 private:
  void CheckArchitecture() const {
    static constexpr const char* kOthers[] = {"clip", "siglip",    "dinov2", "dinov3", "quickgelu", "_reg", "_rope",
                                              "_gap", "distilled", "rmlp",   "_r_",    "resnet",    "_ls"};
    const auto has = [&](const char* part) { return architecture_.find(part) != std::string::npos; };
    if (Heads() != 0 && has("_patch") && !std::any_of(std::begin(kOthers), std::end(kOthers), has)) {
      return CheckArguments();
    }
    Fail(
        "{}: architecture {} of timm is not supported, plain vit_*_patch* and deit_*_patch* are; look for a repository "
        "of the model in the format of transformers",
        path_, architecture_);
  }
  // Checks settings that the tensors do not show.
  void CheckArguments() const {
    static constexpr const char* kShown[] = {"depth",     "embed_dim",   "img_size",   "mlp_ratio",
                                             "num_heads", "num_classes", "patch_size", "qkv_bias"};
    const JsonView arguments = config_["model_args"];
    for (const JsonView& pool : {config_["global_pool"], arguments.IsNull() ? arguments : arguments["global_pool"]}) {
      if (pool.Text("token") != "token") Fail("{} {} is not supported, token is", pool.name(), pool.Text());
    }
    if (arguments.IsNull()) return;
    for (const auto& [key, value] : arguments.Object().items()) {
      const auto is = [&name = key](const char* shown) { return name == shown; };
      if (key == "global_pool" || std::any_of(std::begin(kShown), std::end(kShown), is)) continue;
      Fail("{}: {} {} is not supported", arguments.name(), key, Shown(value));
    }
  }
  uint32_t Heads() const {
    const std::string name = architecture_.substr(0, architecture_.find("_patch"));
    for (const auto& [known, heads] : kHeads) {
      if (name == known) return heads;
    }
    return 0;
  }

  // A setting of the preparation: of pretrained_cfg, which older files do not have.
  JsonView Setting(const char* key) const {
    const JsonView inner = config_["pretrained_cfg"];
    return inner.IsNull() || inner[key].IsNull() ? config_[key] : inner[key];
  }
  Extent Size() const {
    const JsonView size = Setting("input_size");
    if (size.IsNull()) return {224, 224};
    return {size.At(1).Number(kImageSides), size.At(2).Number(kImageSides)};
  }

  Json VitConfig(const Weights& weights) const {
    if (!weights.Has("blocks.0.norm1.weight") || !weights.Has("patch_embed.proj.weight")) {
      Fail("{}: no tensor blocks.0.norm1.weight or patch_embed.proj.weight, as timm's ViT has", directory_);
    }
    uint32_t layers = 0;
    while (weights.Has(fmt::format("blocks.{}.norm1.weight", layers))) ++layers;
    const Constant patches = weights.Get("patch_embed.proj.weight");
    const Extent size = Size();
    const JsonView input = Setting("input_size");
    const uint32_t channels = input.IsNull() ? 3 : input.At(0).Number({1, 16});
    const JsonView arguments = config_["model_args"];
    uint32_t side = 1;
    while (uint64_t{side} * side * channels < patches.width) ++side;
    Json vit = {
        {"model_type", "vit"},
        {"architectures", {weights.Has("head.weight") ? "ViTForImageClassification" : "ViTModel"}},
        {"hidden_size", patches.rows},
        {"num_hidden_layers", layers},
        {"num_attention_heads", arguments.IsNull() ? Heads() : arguments["num_heads"].Number({1, 256}, Heads())},
        {"intermediate_size", weights.Get("blocks.0.mlp.fc1.weight").rows},
        {"image_size", {size.height, size.width}},
        {"patch_size", side},
        {"num_channels", channels},
        {"layer_norm_eps", 1e-6},
        {"hidden_act", "gelu"},
        {"qkv_bias", weights.Has("blocks.0.attn.qkv.bias")}};
    if (size.height == size.width) vit["image_size"] = size.height;
    if (weights.Has("head.weight")) {
      vit["num_labels"] = weights.Get("head.weight").rows;
      const JsonView names = config_["label_names"];
      for (size_t i = 0; !names.IsNull() && i < names.List().size(); ++i) {
        vit["id2label"][std::to_string(i)] = names.At(i).Text();
      }
    }
    return vit;
  }

  void Rename(Weights& weights) const {
    for (const std::string& name : weights.Stored()) {
      if (StartsWith(name, "fc_norm.")) {
        Fail("{}: global_pool avg is not supported, token is (tensor {})", path_, name);
      }
      if (StartsWith(name, "blocks.") && name.find(".attn.qkv.") != std::string::npos) {
        SplitRows(name, weights);
        continue;
      }
      const std::string renamed = Renamed(name);
      if (renamed.empty()) Fail("{}: tensor {} is not one of a plain ViT of timm", directory_, name);
      weights.AddMade(renamed, weights.Take(name));
    }
  }
  static std::string Renamed(const std::string& name) {
    const bool layer = StartsWith(name, "blocks.");
    const size_t after = layer ? name.find('.', 7) : 0;
    if (after == std::string::npos) return "";
    const std::string rest = layer ? name.substr(after + 1) : name;
    const std::string front = layer ? "vit.encoder.layer." + name.substr(7, after - 6) : "vit.";
    const auto renamed = [&](const auto& names) {
      for (const auto& [own, published] : names) {
        if (rest == own) return front + published;
        for (const char* end : {".weight", ".bias"}) {
          if (rest != own + std::string(end)) continue;
          const bool head = std::string(published) == "classifier";
          return (head ? "" : front) + published + end;
        }
      }
      return std::string();
    };
    return layer ? renamed(kLayer) : renamed(kModel);
  }
  // Queries, keys and values are concatenated by rows.
  static void SplitRows(const std::string& name, Weights& weights) {
    const Constant all = weights.Take(name)();
    const uint32_t count = all.rows == 1 ? all.width : all.rows;
    if (count % 3 != 0) Fail("tensor {}: {} rows are not three parts", name, count);
    const size_t after = name.find('.', 7);
    const std::string end = name.substr(name.rfind('.'));
    for (uint32_t part = 0; part < 3; ++part) {
      std::vector<uint32_t> rows;
      for (uint32_t i = 0; i < count / 3; ++i) rows.push_back(part * (count / 3) + i);
      const char* const names[] = {"query", "key", "value"};
      const Constant picked = Pick(all, rows);
      weights.AddMade(
          fmt::format("vit.encoder.layer.{}attention.attention.{}{}", name.substr(7, after - 6), names[part], end),
          [picked] { return picked; });
    }
  }

  std::vector<float> Colours(const char* key, const ColourNumbers& absent) const {
    return ReadColourNumbers(Setting(key), absent, {-1e6, 1e6});
  }

  // The picture is resized to the model's size divided by crop_pct, then the centre is cut out.
  Preparation ReadPreparation() const {
    Preparation made;
    const Extent size = Size();
    const double share = Setting("crop_pct").Real({0.01, 1}, 0.875);
    const std::string mode = Setting("crop_mode").Text("center");
    const std::string interpolation = Setting("interpolation").Text("bicubic");
    const auto scaled = [&](uint32_t side) { return static_cast<uint32_t>(side / share); };
    made.size = {scaled(size.height), scaled(size.width)};
    if (std::max(made.size.height, made.size.width) > kImageSides.most)
      Fail("{}: crop_pct {} is too small", path_, share);
    static const std::pair<const char*, std::optional<Filter>> kFilters[] = {
        {"bicubic", Filter::kBicubic}, {"bilinear", Filter::kBilinear}, {"box", Filter::kBox},
        {"hamming", Filter::kHamming}, {"lanczos", Filter::kLanczos},   {"nearest", std::nullopt}};
    const auto same = [&](const auto& filter) { return interpolation == filter.first; };
    const auto filter = std::find_if(std::begin(kFilters), std::end(kFilters), same);
    if (filter == std::end(kFilters)) Fail("{}: interpolation {} is not supported", path_, interpolation);
    made.filter = filter->second;
    made.mean = Colours("mean", kImagenetMean);
    made.deviation = Colours("std", kImagenetDeviation);
    if (mode == "squash") {
      made.fit = Fit::kStretch;
    } else if (mode == "border") {
      made.fit = Fit::kContain;
      for (const float mean : made.mean) made.fill.push_back(std::nearbyint(255 * mean));
    } else if (mode == "center" && made.size.height == made.size.width) {
      made.fit = Fit::kShortest;
    } else if (mode == "center") {
      made.fit = Fit::kCover;
      made.filter = Filter::kBilinear;  // the original ignores interpolation here
    } else {
      Fail("{}: crop_mode {} is unknown; center, border and squash are known", path_, mode);
    }
    made.even_crop = true;
    made.crop = size;
    made.factor = 1.0 / 255;
    for (const float deviation : made.deviation) {
      if (!(deviation > 0)) Fail("{}: std must be above 0", path_);
    }
    return made;
  }

  const std::string directory_, path_;
  const Json json_;
  const JsonView config_;
  const std::string architecture_;
};

}  // namespace

bool IsTimm(const std::string& directory) {
  const std::string path = (Utf8Path(directory) / "config.json").string();
  if (!fs::exists(Utf8Path(path))) return false;
  const Json json = ReadJson(path);
  return json.is_object() && json.contains("architecture") && json["architecture"].is_string() &&
         !json.contains("model_type");
}

Description DescribeTimm(const std::string& directory, const Reading& reading) {
  return Timm(directory).Describe(reading);
}

}  // namespace fovea::tools
