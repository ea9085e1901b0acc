// preprocessor_config.json of a published model of pictures.
#include "tools/convert/arch/image_processor.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tools/base/fail.h"
#include "tools/base/json.h"

namespace fovea::tools {
namespace {

using Fit = Preparation::Fit;
constexpr WholeRange kSides = {1, 1 << 14};

const std::vector<float> kHalf = {0.5f, 0.5f, 0.5f};
const std::vector<float> kImagenetMean = {0.485f, 0.456f, 0.406f}, kImagenetDeviation = {0.229f, 0.224f, 0.225f};
const std::vector<float> kClipMean = {0.48145466f, 0.4578275f, 0.40821073f},
                         kClipDeviation = {0.26862954f, 0.26130258f, 0.27577711f};

// A processor's defaults. `number`: the meaning of a size that is one number.
struct Processor {
  const char* name;
  Fit number;
  Extent size;
  Filter filter;
  Extent crop;
  const std::vector<float>&mean, &deviation;
};
const Processor kProcessors[] = {
    {"Beit", Fit::kStretch, {256, 256}, Filter::kBicubic, {224, 224}, kHalf, kHalf},
    {"Bit", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
    {"CLIP", Fit::kShortest, {224, 224}, Filter::kBicubic, {224, 224}, kClipMean, kClipDeviation},
    {"ConvNext", Fit::kShortest, {384, 384}, Filter::kBicubic, {}, kHalf, kHalf},
    {"DINOv3ViT", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"DeiT", Fit::kStretch, {256, 256}, Filter::kBicubic, {224, 224}, kHalf, kHalf},
    {"LayoutLMv3", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kHalf, kHalf},
    {"Sam", Fit::kLongest, {1024, 1024}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"Segformer", Fit::kStretch, {512, 512}, Filter::kBilinear, {}, kImagenetMean, kImagenetDeviation},
    {"Siglip", Fit::kStretch, {224, 224}, Filter::kBicubic, {}, kHalf, kHalf},
    {"ViT", Fit::kStretch, {224, 224}, Filter::kBilinear, {}, kHalf, kHalf},
};

// CLIPImageProcessor, CLIPImageProcessorFast and the older CLIPFeatureExtractor are one.
const Processor& ProcessorOf(const std::string& type, const JsonView& config) {
  if (type.empty()) Fail("{}: image_processor_type is missing", config.name());
  std::string name = type;
  for (const std::string end : {"Fast", "ImageProcessor", "FeatureExtractor"}) {
    const bool ends = name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
    if (ends) name.resize(name.size() - end.size());
  }
  for (const Processor& processor : kProcessors) {
    if (name == processor.name) return processor;
  }
  Fail("{}: image_processor_type {} is not supported", config.name(), type);
}

Extent Both(const JsonView& value) {
  if (value.json().is_number()) {
    const uint32_t side = value.Number(kSides);
    return {side, side};
  }
  if (value.json().is_array()) {
    if (value.json().size() != 2) Fail("{} must have two numbers, not {}", value.name(), Shown(value.json()));
    return {value.At(0).Number(kSides), value.At(1).Number(kSides)};
  }
  value.Object();
  return {value["height"].Number(kSides), value["width"].Number(kSides)};
}

void ReadSize(const JsonView& size, Fit number, Preparation& made) {
  made.fit = Fit::kStretch;
  if (size.json().is_number()) {
    made.fit = number;
    made.size = Both(size);
    return;
  }
  const bool shortest = size.json().is_object() && !size["shortest_edge"].IsNull();
  const bool longest = size.json().is_object() && !size["longest_edge"].IsNull();
  if (!shortest && !longest) {
    made.size = Both(size);
    return;
  }
  made.fit = shortest ? Fit::kShortest : Fit::kLongest;
  const uint32_t side = size[shortest ? "shortest_edge" : "longest_edge"].Number(kSides);
  made.size = {side, side};
  if (shortest && longest) made.most = size["longest_edge"].Number(kSides);
}

std::optional<Filter> ReadFilter(const JsonView& resample, Filter absent) {
  // As Pillow numbers them.
  constexpr std::optional<Filter> kFilters[] = {std::nullopt,     Filter::kLanczos, Filter::kBilinear,
                                                Filter::kBicubic, Filter::kBox,     Filter::kHamming};
  if (resample.IsNull()) return absent;
  return kFilters[resample.Number({0, 5})];
}

std::vector<float> ReadChannels(const JsonView& value, const std::vector<float>& absent, RealRange range) {
  if (value.IsNull()) return absent;
  if (value.json().is_number()) return {static_cast<float>(value.Real(range))};
  std::vector<float> numbers;
  for (size_t i = 0; i < value.List().size(); ++i) numbers.push_back(static_cast<float>(value.At(i).Real(range)));
  if (numbers.size() != 1 && numbers.size() != 3) Fail("{} must have 1 or 3 numbers", value.name());
  return numbers;
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

}  // namespace

Preparation ReadImageProcessor(const ProcessorFile& file, const std::string& model_type) {
  const JsonView config(file.json, file.name);
  const Processor& processor = ProcessorOf(ImageProcessorType(file, model_type), config);
  const std::string name = processor.name;
  Preparation made;
  if (config["do_resize"].Flag(true)) {
    if (config["size"].IsNull()) {
      made.fit = processor.number;
      made.size = processor.size;
    } else {
      ReadSize(config["size"], processor.number, made);
    }
    made.filter = ReadFilter(config["resample"], processor.filter);
    if (name == "ConvNext") ReadConvNextShare(config, made);
  }
  made.exact = name == "DINOv3ViT";
  const bool crops = config["do_center_crop"].Flag(!processor.crop.none());
  if (crops && name != "ConvNext") {
    made.crop = config["crop_size"].IsNull() ? processor.crop : Both(config["crop_size"]);
    if (made.crop.none()) Fail("{}: crop_size is missing", file.name);
  }
  if (config["do_pad"].Flag(name == "Sam")) {
    made.pad = config["pad_size"].IsNull() ? Extent{1024, 1024} : Both(config["pad_size"]);
  }
  if (config["do_rescale"].Flag(true)) made.factor = config["rescale_factor"].Real({}, 1.0 / 255);
  if (config["do_normalize"].Flag(true)) {
    made.mean = ReadChannels(config["image_mean"], processor.mean, {});
    made.deviation = ReadChannels(config["image_std"], processor.deviation, {1e-6, 1e6});
  }
  made.blue_first = config["do_flip_channel_order"].Flag(false);
  // Pictures get the channels that the model takes; labels are of no concern.
  const std::set<std::string> known = {"do_resize",    "do_center_crop", "do_pad",           "do_rescale",
                                       "do_normalize", "do_convert_rgb", "do_reduce_labels", "do_flip_channel_order"};
  for (const auto& [key, value] : file.json.items()) {
    const bool does = key.rfind("do_", 0) == 0 || key == "rescale_offset";
    if (does && known.count(key) == 0 && value == true) Fail("{}: {} is not supported", file.name, key);
  }
  return made;
}

void DescribeImageProcessor(const std::string& directory, const std::string& model_type, Description& description) {
  try {
    const std::optional<ProcessorFile> file = FindProcessor(directory, "image_processor");
    if (!file) {
      description.findings.push_back(
          {Topic::kFiles,
           "neither preprocessor_config.json nor processor_config.json prepares images: the blob reads "
           "pixel_values and no image files"});
      return;
    }
    for (const auto& [key, value] : ToMetadata(ReadImageProcessor(*file, model_type))) {
      description.SetMetadata(key, value);
    }
  } catch (const Failure& failure) {
    description.warnings.push_back(fmt::format("the blob accepts only pixel values: {}", failure.what()));
  }
}

}  // namespace fovea::tools
