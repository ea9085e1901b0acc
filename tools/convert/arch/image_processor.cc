// preprocessor_config.json of a published model of pictures.
#include "tools/convert/arch/image_processor.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/printable.h"
#include "tools/convert/arch/image_settings.h"
#include "tools/convert/arch/open_clip_preprocessing.h"

namespace fovea::tools {
namespace {

using Fit = Preparation::Fit;

// A processor's defaults. `number`: the meaning of a size that is one number.
struct Processor {
  const char* name;
  Fit number;
  Extent size;
  Filter filter;
  Extent crop;
  const ColourNumbers &mean, &deviation;
};
const Processor kProcessors[] = {
    {"Beit", Fit::kStretch, {256, 256}, Filter::kBicubic, {224, 224}, kHalf, kHalf},
    {"Bit", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
    {"Blip", Fit::kStretch, {384, 384}, Filter::kBicubic, {}, kClipMean, kClipDeviation},
    {"CLIP", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
    {"ChineseCLIP", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
    {"ConvNext", Fit::kShortest, {384, 384}, Filter::kBicubic, {}, kHalf, kHalf},
    {"DINOv3ViT", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"DeiT", Fit::kStretch, {256, 256}, Filter::kBicubic, {224, 224}, kHalf, kHalf},
    {"LayoutLMv3", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kHalf, kHalf},
    {"MobileNetV1", Fit::kShortest, {256, 256}, Filter::kBilinear, {224, 224}, kHalf, kHalf},
    {"MobileNetV2", Fit::kShortest, {256, 256}, Filter::kBilinear, {224, 224}, kHalf, kHalf},
    {"Pvt", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"Sam", Fit::kLongest, {1024, 1024}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"Segformer", Fit::kStretch, {512, 512}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"Siglip", Fit::kStretch, {224, 224}, Filter::kBicubic, {}, kHalf, kHalf},
    {"ViT", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kHalf, kHalf},
    {"ViTHybrid", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
};

// CLIPImageProcessor, its variants for libraries (CLIPImageProcessorFast, CLIPImageProcessorPil) and the older
// CLIPFeatureExtractor are one.
const Processor& ProcessorOf(const std::string& type, const JsonView& config) {
  if (type.empty()) Fail("{}: image_processor_type is missing", config.name());
  std::string name = type;
  for (const std::string end : {"Fast", "Pil", "ImageProcessor", "FeatureExtractor"}) {
    if (EndsWith(name, end)) name.resize(name.size() - end.size());
  }
  for (const Processor& processor : kProcessors) {
    if (name == processor.name) return processor;
  }
  Fail("{}: image_processor_type {} is not supported", config.name(), type);
}

void ReadSize(const JsonView& size, Fit number, Preparation& made) {
  made.fit = Fit::kStretch;
  if (size.json().is_number()) {
    made.fit = number;
    made.size = ReadSides(size);
    return;
  }
  const bool shortest = size.json().is_object() && !size["shortest_edge"].IsNull();
  const bool longest = size.json().is_object() && !size["longest_edge"].IsNull();
  if (size.json().is_object() && !shortest && !longest && (size["height"].IsNull() || size["width"].IsNull())) {
    Fail("{} {} is not supported; height and width, shortest_edge and longest_edge are", size.name(),
         Shown(size.json()));
  }
  if (!shortest && !longest) {
    made.size = ReadSides(size);
    return;
  }
  made.fit = shortest ? Fit::kShortest : Fit::kLongest;
  const uint32_t side = size[shortest ? "shortest_edge" : "longest_edge"].Number(kImageSides);
  made.size = {side, side};
  if (shortest && longest) made.most = size["longest_edge"].Number(kImageSides);
}

std::optional<Filter> ReadFilter(const JsonView& resample, Filter absent) {
  // As Pillow numbers them.
  constexpr std::optional<Filter> kFilters[] = {std::nullopt,     Filter::kLanczos, Filter::kBilinear,
                                                Filter::kBicubic, Filter::kBox,     Filter::kHamming};
  if (resample.IsNull()) return absent;
  return kFilters[resample.Number({0, 5})];
}

// Below 384 a share of the picture is cut out, from there on it is stretched.
void ReadConvNextShare(const JsonView& config, Preparation& made) {
  if (made.fit != Fit::kShortest) Fail("{}: size must have a shortest_edge", config.name());
  const uint32_t side = made.size.height;
  if (side >= 384) {
    made.fit = Fit::kStretch;
    return;
  }
  const double share = config["crop_pct"].Real({0.01, 1}, 224.0 / 256);
  made.crop = made.size;
  const auto whole = static_cast<uint32_t>(side / share);
  made.size = {whole, whole};
}

// Keys that change nothing here: names, forms of tensors, labels and videos. A picture gets the channels of the model.
const char* const kNoEffect[] = {"apply_ocr",
                                 "auto_map",
                                 "data_format",
                                 "device",
                                 "disable_grouping",
                                 "do_convert_annotations",
                                 "do_convert_rgb",
                                 "do_reduce_labels",
                                 "do_sample_frames",
                                 "feature_extractor_type",
                                 "fps",
                                 "image_processor_type",
                                 "image_seq_length",
                                 "input_data_format",
                                 "max_frames",
                                 "min_frames",
                                 "num_frames",
                                 "ocr_lang",
                                 "processor_class",
                                 "reduce_labels",
                                 "return_metadata",
                                 "return_tensors",
                                 "tesseract_config",
                                 "video_metadata"};

// Reads one file and remembers the keys that it read.
class ProcessorReader {
 public:
  ProcessorReader(const ProcessorFile& file, const std::string& model_type)
      : file_(file),
        config_(file.json, file.name),
        type_(ImageProcessorType(file, model_type)),
        processor_(ProcessorOf(type_, config_)) {}

  Preparation Read(Description& description) {
    const std::string name = processor_.name;
    Preparation made;
    // Variants for PyTorch's tensors crop as its library does.
    made.even_crop = EndsWith(type_, "Fast");
    ReadResizing(name, made);
    made.exact = name == "DINOv3ViT";
    const bool crops = Flag("do_center_crop", !processor_.crop.none());
    const JsonView crop = Key("crop_size");
    if (crops && name != "ConvNext") {
      made.crop = crop.IsNull() ? processor_.crop : ReadSides(crop);
      if (made.crop.none()) Fail("{}: crop_size is missing", file_.name);
    }
    const JsonView pad = Key("pad_size");
    // Without a size a single picture is padded to its own size.
    if (Flag("do_pad", name == "Sam") && (name == "Sam" || !pad.IsNull())) {
      made.pad = pad.IsNull() ? Extent{1024, 1024} : ReadSides(pad);
    }
    const JsonView factor = Key("rescale_factor"), mean = Key("image_mean"), deviation = Key("image_std");
    if (Flag("do_rescale", true)) made.factor = factor.Real({}, 1.0 / 255);
    if (Flag("do_normalize", true)) {
      made.mean = ReadColourNumbers(mean, processor_.mean, {});
      made.deviation = ReadColourNumbers(deviation, processor_.deviation, {1e-6, 1e6});
    }
    made.blue_first = Flag("do_flip_channel_order", false);
    CheckRemaining(description);
    if (made.fit == Fit::kShortest && made.crop.none() && made.pad.none()) {
      description.warnings.push_back(fmt::format(
          "{}: pictures keep their shape and are not cropped, but a program reads one size: the middle of a "
          "picture that is not square is used",
          file_.name));
    }
    return made;
  }

 private:
  JsonView Key(const char* key) {
    read_.insert(key);
    return config_[key];
  }
  bool Flag(const char* key, bool absent) { return Key(key).Flag(absent); }

  void ReadResizing(const std::string& name, Preparation& made) {
    const JsonView size = Key("size"), filter = Key("resample"), share = Key("crop_pct"),
                   square = Key("default_to_square");
    if (!Flag("do_resize", true)) return;
    const Fit number = square.IsNull() ? processor_.number : square.Flag() ? Fit::kStretch : Fit::kShortest;
    if (size.IsNull()) {
      made.fit = processor_.number;
      made.size = processor_.size;
    } else {
      ReadSize(size, number, made);
    }
    made.filter = ReadFilter(filter, processor_.filter);
    if (name == "ConvNext") ReadConvNextShare(config_, made);
    if (name != "ConvNext" && !share.IsNull()) read_.erase("crop_pct");
  }

  // Steps that are not supported cost the preparation; other unknown keys are ignored, as the original does.
  void CheckRemaining(Description& description) const {
    std::string ignored;
    for (const auto& [key, value] : file_.json.items()) {
      const bool known = std::find(std::begin(kNoEffect), std::end(kNoEffect), key) != std::end(kNoEffect);
      if (read_.count(key) != 0 || value.is_null() || key.rfind("_", 0) == 0) continue;
      if (known && key != "apply_ocr") continue;
      const bool does = key.rfind("do_", 0) == 0 || key == "rescale_offset";
      if (does && value == true) Fail("{}: {} is not supported", file_.name, key);
      if (value == false) continue;
      ignored += (ignored.empty() ? "" : ", ") + Shortened(key);
    }
    if (!ignored.empty()) {
      description.findings.push_back(
          {Topic::kNoEffect, fmt::format("{}: {} ({} has no such step)", file_.name, ignored, processor_.name)});
    }
    if (!config_["auto_map"].IsNull()) {
      description.findings.push_back(
          {Topic::kNotUsed, fmt::format("{}: auto_map, code that is not run; pictures are prepared as {} does",
                                        file_.name, Shortened(type_))});
    }
  }

  const ProcessorFile& file_;
  const JsonView config_;
  const std::string type_;
  const Processor& processor_;
  std::set<std::string> read_;
};

}  // namespace

Preparation ReadImageProcessor(const ProcessorFile& file, const std::string& model_type, Description& description) {
  return ProcessorReader(file, model_type).Read(description);
}

void DescribeImageProcessor(const std::string& directory, const std::string& model_type, Description& description) {
  try {
    const auto set = [&](const Preparation& preparation) {
      for (const auto& [key, value] : ToMetadata(preparation)) description.SetMetadata(key, value);
    };
    if (const std::optional<ProcessorFile> file = FindProcessor(directory, "image_processor")) {
      return set(ReadImageProcessor(*file, model_type, description));
    }
    if (const std::optional<Preparation> preparation = ReadOpenClipPreprocessing(directory)) {
      description.findings.push_back({Topic::kFiles, "open_clip_config.json prepares images"});
      return set(*preparation);
    }
    description.findings.push_back(
        {Topic::kFiles,
         "neither preprocessor_config.json nor processor_config.json prepares images: the blob reads "
         "pixel_values and no image files"});
  } catch (const Failure& failure) {
    description.warnings.push_back(fmt::format("the blob accepts only pixel values: {}", failure.what()));
  }
}

}  // namespace fovea::tools
