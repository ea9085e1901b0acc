// Segmentation of pictures through the command, against scores that this test resizes itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/run_command.h"
#include "tests/tools/golden_folder.h"
#include "tools/image/png.h"
#include "tools/image/preparation.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::Picture;

const char kProcessor[] = R"({"feature_extractor_type": "SegformerFeatureExtractor", "size": 64, "resample": 2,
    "reduce_labels": true, "do_resize": true, "do_normalize": true})";

// Bilinear interpolation of one class at a pixel's centre, in doubles.
double Score(const std::vector<float>& scores, uint32_t c, uint32_t rows, uint32_t columns, double y, double x) {
  const auto place = [](double at, uint32_t count) { return std::clamp(at, 0.0, count - 1.0); };
  const double down = place(y, rows), across = place(x, columns);
  const auto top = static_cast<uint32_t>(down), left = static_cast<uint32_t>(across);
  const uint32_t bottom = std::min(top + 1, rows - 1), right = std::min(left + 1, columns - 1);
  const auto at = [&](uint32_t row, uint32_t column) { return scores[(c * rows + row) * columns + column]; };
  const double upper = at(top, left) * (1 - (across - left)) + at(top, right) * (across - left);
  const double lower = at(bottom, left) * (1 - (across - left)) + at(bottom, right) * (across - left);
  return upper * (1 - (down - top)) + lower * (down - top);
}

TEST(Segmentation, SharesAndMaskAreThoseOfResizedScores) {
  const std::string folder = GoldenFolder("segformer", kProcessor), blob = folder + "/model.fovea";
  ASSERT_EQ(Fovea({"convert", folder, "-o", blob, "--compare", "none"}).status, 0);
  const std::string file = InData("images/rgb.png"), mask = folder + "/mask.png";
  const json found = FoveaJson({"run", blob, "--image", file, "--output", mask, "--json"})[0];

  tools::Preparation p;
  p.fit = tools::Preparation::Fit::kStretch;
  p.size = {64, 64};
  p.factor = 1.0 / 255;
  p.mean = {0.485f, 0.456f, 0.406f};
  p.deviation = {0.229f, 0.224f, 0.225f};
  const Picture picture = tools::ReadPicture(file);
  const std::vector<float> pixels = tools::Prepare(p, picture, 3, {64, 64});
  tools::SafetensorsWriter writer;
  writer.AddFloats("pixel_values", {1, 3, 64, 64}, pixels.data());
  writer.Write(folder + "/in.safetensors");
  ASSERT_EQ(Fovea({"run", blob, "--input", folder + "/in.safetensors", "-o", folder + "/out.safetensors"}).status, 0);
  const tools::SafetensorsReader out(folder + "/out.safetensors");
  const auto tensor = out.Get("logits");
  ASSERT_EQ(tensor.shape.size(), 4u);
  const auto classes = static_cast<uint32_t>(tensor.shape[1]), rows = static_cast<uint32_t>(tensor.shape[2]),
             columns = static_cast<uint32_t>(tensor.shape[3]);
  const std::vector<float> scores = tools::ToFloats(tensor);

  const Picture written = tools::ReadPicture(mask);
  ASSERT_EQ(written.height, picture.height);
  ASSERT_EQ(written.width, picture.width);
  std::vector<uint64_t> counts(classes);
  uint32_t ties = 0;
  for (uint32_t y = 0; y < picture.height; ++y) {
    for (uint32_t x = 0; x < picture.width; ++x) {
      std::vector<double> pixel;
      for (uint32_t c = 0; c < classes; ++c) {
        pixel.push_back(Score(scores, c, rows, columns, (y + 0.5) * rows / picture.height - 0.5,
                              (x + 0.5) * columns / picture.width - 0.5));
      }
      const auto best = static_cast<uint32_t>(std::max_element(pixel.begin(), pixel.end()) - pixel.begin());
      // Pascal VOC's colours of classes below 8: a bit for each channel.
      const uint8_t* colour = &written.pixels[3 * (size_t{y} * picture.width + x)];
      const uint32_t shown = (colour[0] >> 7) + 2u * (colour[1] >> 7) + 4u * (colour[2] >> 7);
      ASSERT_LT(shown, classes);
      ++counts[shown];
      if (shown == best) continue;
      ++ties;
      EXPECT_NEAR(pixel[shown], pixel[best], 1e-4) << y << " " << x;
    }
  }
  EXPECT_LT(ties, 5u);
  ASSERT_FALSE(found["segments"].empty());
  uint64_t before = UINT64_MAX, sum = 0;
  for (const json& segment : found["segments"]) {
    const auto count = segment["pixels"].get<uint64_t>();
    EXPECT_EQ(count, counts.at(segment["class"].get<size_t>()));
    EXPECT_NEAR(segment["share"].get<double>(), static_cast<double>(count) / (picture.height * picture.width), 1e-9);
    EXPECT_EQ(segment["label"], "LABEL_" + std::to_string(segment["class"].get<int>()));
    EXPECT_LE(count, before);
    before = count;
    sum += count;
  }
  EXPECT_EQ(sum, uint64_t{picture.height} * picture.width);
  EXPECT_EQ(found["mask"], mask);
  EXPECT_EQ(FoveaJson({"run", blob, "--image", file, "--top", "1", "--json"})[0]["segments"].size(), 1u);
  const CommandResult two = Fovea({"run", blob, "--image", file, "--image", file, "--output", mask});
  EXPECT_EQ(two.status, 2);
  EXPECT_NE(two.err.find("--output writes the mask of one image"), std::string::npos) << two.err;
  std::filesystem::remove_all(folder);
}

TEST(Segmentation, IndicesAsPng) {
  std::vector<uint16_t> indices = {0, 1, 2, 5, 255, 128};
  const auto parse = [](const std::string& png) {
    return tools::ParsePicture(reinterpret_cast<const uint8_t*>(png.data()), png.size());
  };
  const Picture palette = parse(tools::IndexedPngOf(indices, 2, 3));
  EXPECT_EQ(palette.width, 3u);
  EXPECT_EQ(palette.height, 2u);
  EXPECT_EQ(palette.pixels,
            std::vector<uint8_t>({0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 0, 128, 224, 224, 192, 0, 32, 0}));
  indices[3] = 0x1234;
  const Picture grey = parse(tools::IndexedPngOf(indices, 2, 3));
  EXPECT_EQ(grey.pixels[9], 0x12);
  EXPECT_EQ(grey.pixels[0], 0);
}

}  // namespace
}  // namespace fovea::test
