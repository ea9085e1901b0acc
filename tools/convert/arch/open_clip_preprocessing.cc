// The original: open_clip/transform.py (image_transform for inference, PreprocessCfg).
#include "tools/convert/arch/open_clip_preprocessing.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/utf8_path.h"
#include "tools/convert/arch/image_settings.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;
using Fit = Preparation::Fit;

}  // namespace

std::optional<Preparation> ReadOpenClipPreprocessing(const std::string& directory) {
  const std::string path = (Utf8Path(directory) / "open_clip_config.json").string();
  if (!fs::exists(Utf8Path(path))) return std::nullopt;
  const Json json = ReadJson(path);
  const JsonView file = JsonView(json, path), settings = file["preprocess_cfg"];
  if (settings.IsNull()) return std::nullopt;
  JsonView size = settings["size"];
  const JsonView model = file["model_cfg"];
  if (size.IsNull() && !model.IsNull() && !model["vision_cfg"].IsNull()) size = model["vision_cfg"]["image_size"];
  Preparation made;
  made.size = size.IsNull() ? Extent{224, 224} : ReadSides(size);
  const std::string mode = settings["resize_mode"].Text("shortest");
  const std::string interpolation = settings["interpolation"].Text("bicubic");
  made.filter = interpolation == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
  if (mode == "squash") {
    made.fit = Fit::kStretch;
  } else if (mode == "longest") {
    made.fit = Fit::kContain;
    made.fill = {static_cast<float>(settings["fill_color"].Number({0, 255}, 0))};
  } else if (mode == "shortest" && made.size.height == made.size.width) {
    made.fit = Fit::kShortest;
  } else if (mode == "shortest") {
    made.fit = Fit::kCover;
    made.filter = Filter::kBicubic;  // the original ignores interpolation here
  } else {
    Fail("{}: resize_mode {} is unknown; shortest, longest and squash are known", path, mode);
  }
  if (mode != "squash") {
    made.crop = made.size;
    made.even_crop = true;
  }
  if (interpolation != "bicubic" && interpolation != "bilinear" && interpolation != "random") {
    Fail("{}: interpolation {} is not supported, bicubic and bilinear are", path, interpolation);
  }
  made.factor = 1.0 / 255;
  made.mean = ReadColourNumbers(settings["mean"], kClipMean, {-1e6, 1e6});
  made.deviation = ReadColourNumbers(settings["std"], kClipDeviation, {1e-6, 1e6});
  return made;
}

}  // namespace fovea::tools
