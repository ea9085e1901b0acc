// Settings of image processors as old and new versions of the original write them, and damaged ones.
#include "tools/convert/arch/image_processor.h"

#include <random>

#include "tests/convert/architecture_support.h"

namespace fovea::tools {
namespace {

// The metadata that DescribeImageProcessor adds to a description.
class ImageProcessor : public Architecture {
 protected:
  void SetUp() override {
    Copy("vit");
    std::filesystem::remove(directory_ / "model.safetensors");
  }
  Description Read(const std::string& text, const std::string& model_type = "vit",
                   const char* file = "preprocessor_config.json") {
    std::filesystem::remove(directory_ / "preprocessor_config.json");
    std::filesystem::remove(directory_ / "processor_config.json");
    Write(file, text);
    Description description;
    DescribeImageProcessor(directory_.string(), model_type, description);
    return description;
  }
  static std::string Joined(const Description& description) {
    std::string all;
    for (const auto& [key, value] : description.metadata) all += key.substr(6) + "=" + value + "; ";
    return all;
  }
  static std::string Warnings(const Description& description) {
    std::string all;
    for (const std::string& warning : description.warnings) all += warning + "\n";
    return all;
  }
  static std::string Found(const Description& description) {
    std::string all;
    for (const Finding& finding : description.findings) all += finding.text + "\n";
    return all;
  }
};

const char kVit[] =
    "resize=stretch 224 224; filter=bilinear; factor=0.00392156862745098; mean=0.5 0.5 0.5; deviation=0.5 0.5 0.5; ";

struct Settings {
  const char *model_type, *text, *made;
};

TEST_F(ImageProcessor, OldAndNewSpellings) {
  const char* const mean = "factor=0.00392156862745098; mean=0.5 0.5 0.5; deviation=0.5 0.5 0.5; ";
  const char* const clip_mean =
      "factor=0.00392156862745098; mean=0.48145467 0.4578275 0.40821072; deviation=0.26862955 0.2613026 0.2757771; ";
  const Settings kSettings[] = {
      // Without a type, that of the model; all defaults.
      {"vit", "{}", kVit},
      {"vit", R"({"image_processor_type": "ViTImageProcessorFast"})", kVit},
      {"vit", R"({"image_processor_type": "ViTImageProcessorPil"})", kVit},
      {"vit", R"({"feature_extractor_type": "ViTFeatureExtractor"})", kVit},
      {"swinv2", R"({"size": {"height": 224, "width": 224}})", kVit},
      // Sizes.
      {"vit", R"({"size": 96})", "resize=stretch 96 96; filter=bilinear; "},
      {"vit", R"({"size": [96, 64]})", "resize=stretch 96 64; filter=bilinear; "},
      {"vit", R"({"size": {"longest_edge": 96}})", "resize=longest 96; filter=bilinear; "},
      {"vit", R"({"size": 96, "default_to_square": false, "do_center_crop": true, "crop_size": 80})",
       "resize=shortest 96; filter=bilinear; crop=80 80; "},
      {"clip", R"({"size": 96, "crop_size": 80})", "resize=shortest 96; filter=bicubic; crop=80 80; "},
      {"clip", R"({"size": 96, "default_to_square": true, "do_center_crop": false})",
       "resize=stretch 96 96; filter=bicubic; "},
      {"clip", R"({"size": {"shortest_edge": 96, "longest_edge": 128}, "crop_size": {"height": 80, "width": 64}})",
       "resize=shortest 96 most 128; filter=bicubic; crop=80 64; "},
      {"clip", R"({"image_processor_type": "CLIPImageProcessorFast", "size": 96, "crop_size": 80})",
       "resize=shortest 96; filter=bicubic; crop=80 80 even; "},
      {"clip", R"({"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 224},
                   "crop_pct": 0.875})",
       "resize=shortest 256; filter=bicubic; crop=224 224; "},
      {"clip", R"({"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 384}})",
       "resize=stretch 384 384; filter=bicubic; "},
      {"sam", R"({"size": {"longest_edge": 64}, "pad_size": {"height": 64, "width": 64}})",
       "resize=longest 64; filter=bilinear; pad=64 64; "},
      // Steps that are left out, by false.
      {"vit", R"({"do_resize": false, "size": 96})", mean},
      {"clip", R"({"do_center_crop": false, "size": [96, 96]})", "resize=stretch 96 96; filter=bicubic; "},
      {"vit", R"({"do_rescale": false})", "filter=bilinear; factor=1; mean=0.5 0.5 0.5; "},
      {"vit", R"({"do_normalize": false, "rescale_factor": 0.0078125})", "filter=bilinear; factor=0.0078125; "},
      {"vit", R"({"do_pad": false, "do_convert_rgb": false, "do_flip_channel_order": true})", "channels=bgr; "},
      // Padding of one picture to the largest of a batch changes nothing.
      {"vit", R"({"do_pad": true, "pad_size": null})", kVit},
      {"vit", R"({"do_pad": true, "pad_size": {"height": 256, "width": 224}})", "pad=256 224; "},
      // Filters by number, channels.
      {"vit", R"({"resample": 0})", "filter=nearest; "},
      {"vit", R"({"resample": 1})", "filter=lanczos; "},
      {"vit", R"({"resample": 5})", "filter=hamming; "},
      {"vit", R"({"image_mean": 0.25, "image_std": [0.125]})", "mean=0.25; deviation=0.125; "},
      {"vit", R"({"image_mean": null, "image_std": null})", kVit},
      // Processors of other models.
      {"clip", R"({"image_processor_type": "ChineseCLIPFeatureExtractor"})",
       "resize=shortest 224; filter=bicubic; crop=224 224; "},
      {"clip", R"({"image_processor_type": "BlipImageProcessor"})", "resize=stretch 384 384; filter=bicubic; "},
      {"clip", R"({"image_processor_type": "BlipImageProcessor"})", clip_mean},
      {"vit", R"({"image_processor_type": "MobileNetV2ImageProcessor"})",
       "resize=shortest 256; filter=bilinear; crop=224 224; "},
      {"vit", R"({"image_processor_type": "ViTHybridImageProcessor"})", clip_mean},
      // Sizes, filters and means that a file leaves to the class.
      {"segformer", "{}",
       "resize=stretch 512 512; filter=bilinear; factor=0.00392156862745098; mean=0.485 0.456 0.406; "},
      {"vit", R"({"image_processor_type": "BeitImageProcessor"})",
       "resize=stretch 256 256; filter=bicubic; crop=224 224; "},
      {"vit", R"({"image_processor_type": "DeiTFeatureExtractor"})",
       "resize=stretch 256 256; filter=bicubic; crop=224 224; "},
      {"vit", R"({"image_processor_type": "BitImageProcessor"})",
       "resize=shortest 224; filter=bicubic; crop=224 224; "},
      {"vit", R"({"image_processor_type": "SiglipImageProcessor"})", "resize=stretch 224 224; filter=bicubic; "},
      {"vit", R"({"image_processor_type": "ConvNextImageProcessor"})", "resize=stretch 384 384; filter=bicubic; "},
      {"sam", "{}", "resize=longest 1024; filter=bilinear; pad=1024 1024; "},
      // Videos, and forms of tensors.
      {"vit", R"({"do_sample_frames": true, "fps": 2, "num_frames": 8, "return_metadata": true, "data_format":
                  "channels_first", "device": "cpu", "return_tensors": "pt", "disable_grouping": true,
                  "input_data_format": null, "_valid_processor_keys": ["size"]})",
       kVit},
  };
  for (const Settings& settings : kSettings) {
    const Description made = Read(settings.text, settings.model_type);
    EXPECT_NE(Joined(made).find(settings.made), std::string::npos) << settings.text << "\n" << Joined(made);
    EXPECT_EQ(Warnings(made), "") << settings.text;
    EXPECT_EQ(Found(made), "") << settings.text;
  }
  const Description nested =
      Read(R"({"image_processor": {"size": 96}, "processor_class": "CLIPProcessor", "video_processor": {"size": 7}})",
           "vit", "processor_config.json");
  EXPECT_NE(Joined(nested).find("resize=stretch 96 96; "), std::string::npos);
}

TEST_F(ImageProcessor, NamesWhatItDoesNotFollow) {
  const std::pair<const char*, const char*> kRefused[] = {
      {R"({"do_thumbnail": true})", "do_thumbnail is not supported"},
      {R"({"do_align_long_axis": true})", "do_align_long_axis is not supported"},
      {R"({"rescale_offset": true})", "rescale_offset is not supported"},
      {R"({"size": {"max_height": 5, "max_width": 6}})", "height and width, shortest_edge and longest_edge are"},
      {R"({"size": {"height": 5}})", "height and width, shortest_edge and longest_edge are"},
      {R"({"size": {}})", "height and width, shortest_edge and longest_edge are"},
      {R"({"size": 0})", "size"},
      {R"({"size": -3})", "size"},
      {R"({"size": 1e9})", "size"},
      {R"({"size": "224"})", "size"},
      {R"({"resample": 6})", "resample"},
      {R"({"resample": "bicubic"})", "resample"},
      {R"({"image_mean": [0.5, 0.5]})", "image_mean must have 1 or 3 numbers"},
      {R"({"image_std": [0.5, 0, 0.5]})", "image_std"},
      {R"({"do_resize": "yes"})", "do_resize"},
      {R"({"do_center_crop": true})", "crop_size is missing"},
      {R"({"image_processor_type": "Siglip2ImageProcessor"})", "Siglip2ImageProcessor is not supported"},
      {R"({"image_processor_type": 5})", "image_processor_type"},
      {"[]", "preprocessor_config.json"},
      {"7", "preprocessor_config.json"},
      {"{", "preprocessor_config.json"},
      {"", "preprocessor_config.json"},
  };
  for (const auto& [text, words] : kRefused) {
    const Description made = Read(text);
    EXPECT_EQ(Warnings(made).find("the blob accepts only pixel values: "), 0u) << text << "\n" << Warnings(made);
    EXPECT_NE(Warnings(made).find(words), std::string::npos) << Warnings(made);
    EXPECT_EQ(Joined(made), "") << text;
  }
  const Description ignored = Read(R"({"size_divisor": 32, "crop_pct": 0.9, "apply_ocr": true, "size": 224})");
  EXPECT_NE(Found(ignored).find("apply_ocr, crop_pct, size_divisor (ViT has no such step)"), std::string::npos)
      << Found(ignored);
  const Description code = Read(R"({"auto_map": {"AutoImageProcessor": "x.Y"}})");
  EXPECT_NE(Found(code).find("auto_map, code that is not run"), std::string::npos);
  EXPECT_NE(Warnings(Read(R"({"size": {"shortest_edge": 224}})")).find("the middle of a picture that is not square"),
            std::string::npos);
}

// CLIP's directory without a processor's file.
TEST_F(ImageProcessor, OfOpenClip) {
  const auto read = [&](const std::string& text) { return Read(text, "clip", "open_clip_config.json"); };
  const std::string base = R"({"model_cfg": {"vision_cfg": {"image_size": 96}}, "preprocess_cfg": )";
  EXPECT_EQ(Joined(read(base + R"({"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}})")),
            "resize=shortest 96; filter=bicubic; crop=96 96 even; factor=0.00392156862745098; mean=0.5 0.5 0.5; "
            "deviation=0.25 0.25 0.25; ");
  EXPECT_EQ(Joined(read(base + R"({"size": [64, 32], "resize_mode": "squash", "interpolation": "bilinear",
                                   "mean": [0.5], "std": [0.25]}})")),
            "resize=stretch 64 32; filter=bilinear; factor=0.00392156862745098; mean=0.5; deviation=0.25; ");
  const std::string rest = R"("mean": 0.5, "std": [0.25]}})";
  const std::string end = "factor=0.00392156862745098; mean=0.5; deviation=0.25; ";
  EXPECT_EQ(Joined(read(base + R"({"resize_mode": "longest", "interpolation": "bilinear", "fill_color": 7, )" + rest)),
            "resize=contain 96 96; filter=bilinear; crop=96 96 even; fill=7; " + end);
  // A shape that is not square is resized bicubically, also where the file asks for another filter, as in the original.
  EXPECT_EQ(Joined(read(base + R"({"size": [64, 32], "interpolation": "bilinear", )" + rest)),
            "resize=cover 64 32; filter=bicubic; crop=64 32 even; " + end);
  for (const char* wrong : {R"({"resize_mode": "widest"}})", R"({"size": [1, 2, 3]}})", R"({"std": [0, 1, 1]}})",
                            R"({"interpolation": "area"}})", "[]}", "7}"}) {
    EXPECT_NE(Warnings(read(base + wrong)).find("the blob accepts only pixel values: "), std::string::npos) << wrong;
  }
  std::filesystem::remove(directory_ / "open_clip_config.json");
}

// Any change of a file is read, or becomes a warning; nothing escapes and nothing large is allocated.
TEST_F(ImageProcessor, DamagedFiles) {
  const std::string whole = R"({"image_processor_type": "CLIPImageProcessor", "do_resize": true, "size":
      {"shortest_edge": 224, "longest_edge": 300}, "resample": 3, "do_center_crop": true, "crop_size": {"height": 224,
      "width": 224}, "do_pad": true, "pad_size": [224, 224], "do_rescale": true, "rescale_factor": 0.0039,
      "do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "auto_map": {"a": "b"}})";
  ASSERT_EQ(Warnings(Read(whole, "clip")), "");
  std::mt19937 random(3);
  const std::string kParts[] = {"null",  "true", "-1", "1e400", "99999999999999999999",
                                "\"x\"", "[]",   "{}", "0.5",   "\0"};
  for (int turn = 0; turn < 400; ++turn) {
    std::string changed = whole;
    const size_t at = random() % changed.size();
    if (turn % 3 == 0) {
      changed[at] = static_cast<char>(random());
    } else if (turn % 3 == 1) {
      // A value in place of another one.
      const size_t begin = changed.find(": ", at), end = changed.find_first_of(",}", begin + 1);
      if (end == std::string::npos) continue;
      changed.replace(begin + 2, end - begin - 2, kParts[random() % std::size(kParts)]);
    } else {
      changed.resize(at);
    }
    const bool nested = turn % 2 == 0;
    const Description made = nested ? Read("{\"image_processor\": " + changed + "}", "clip", "processor_config.json")
                                    : Read(changed, "clip");
    // The metadata read back.
    EXPECT_NO_THROW(FromMetadata([&](const std::string& key) -> const char* {
      const auto found = made.metadata_index.find(key);
      return found == made.metadata_index.end() ? nullptr : made.metadata[found->second].second.c_str();
    })) << changed;
  }
}

}  // namespace
}  // namespace fovea::tools
