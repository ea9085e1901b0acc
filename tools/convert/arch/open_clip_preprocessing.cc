#include "tools/convert/arch/open_clip_preprocessing.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;
using Fit = Preparation::Fit;
constexpr WholeRange kSides = {1, 1 << 14};

Extent Sides(const JsonView& size) {
  if (!size.json().is_array()) {
    const uint32_t side = size.Number(kSides);
    return {side, side};
  }
  if (size.json().size() != 2) Fail("{} must have two numbers, not {}", size.name(), Shown(size.json()));
  return {size.At(0).Number(kSides), size.At(1).Number(kSides)};
}

std::vector<float> Channels(const JsonView& list, std::vector<float> absent, RealRange range) {
  if (list.IsNull()) return absent;
  std::vector<float> numbers;
  for (size_t i = 0; i < list.List().size(); ++i) numbers.push_back(static_cast<float>(list.At(i).Real(range)));
  if (numbers.size() != 1 && numbers.size() != 3) Fail("{} must have 1 or 3 numbers", list.name());
  return numbers;
}

}  // namespace

std::optional<Preparation> ReadOpenClipPreprocessing(const std::string& directory) {
  const std::string path = (fs::path(directory) / "open_clip_config.json").string();
  if (!fs::exists(path)) return std::nullopt;
  const Json json = ReadJson(path);
  const JsonView file = JsonView(json, path), settings = file["preprocess_cfg"];
  if (settings.IsNull()) return std::nullopt;
  JsonView size = settings["size"];
  const JsonView model = file["model_cfg"];
  if (size.IsNull() && !model.IsNull() && !model["vision_cfg"].IsNull()) size = model["vision_cfg"]["image_size"];
  Preparation made;
  made.size = size.IsNull() ? Extent{224, 224} : Sides(size);
  const std::string mode = settings["resize_mode"].Text("shortest");
  const std::string interpolation = settings["interpolation"].Text("bicubic");
  if (mode == "squash") {
    made.fit = Fit::kStretch;
  } else if (mode == "shortest" && made.size.height == made.size.width) {
    made.fit = Fit::kShortest;
    made.crop = made.size;
    made.even_crop = true;
  } else {
    Fail("{}: resize_mode {} for {}x{} is not supported, squash is, and shortest for squares", path, mode,
         made.size.height, made.size.width);
  }
  if (interpolation != "bicubic" && interpolation != "bilinear" && interpolation != "random") {
    Fail("{}: interpolation {} is not supported, bicubic and bilinear are", path, interpolation);
  }
  made.filter = interpolation == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
  made.factor = 1.0 / 255;
  made.mean = Channels(settings["mean"], {0.48145466f, 0.4578275f, 0.40821073f}, {-1e6, 1e6});
  made.deviation = Channels(settings["std"], {0.26862954f, 0.26130258f, 0.27577711f}, {1e-6, 1e6});
  return made;
}

}  // namespace fovea::tools
