// How images become rows: patches, windows, the biases between them, and sizes in configurations.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/support/combinations.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/check/golden_check.h"
#include "tools/convert/arch/grid_convolution.h"
#include "tools/convert/arch/image_input.h"
#include "tools/convert/arch/image_windows.h"
#include "tools/convert/constants.h"
#include "tools/convert/convert.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/quantize.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::tools {
namespace {

using test::Combinations;
using test::kOffAndOn;

std::vector<int> Whole(const Constant& table) {
  std::vector<int> whole;
  for (const float value : table.load()) whole.push_back(static_cast<int>(value));
  return whole;
}

// ---- Pixels to patches ----

class Images : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  Checkpoint With(const Json& config, const std::string& size = "") {
    const std::string text = config.dump();
    WriteFile(path_, text.data(), text.size());
    return {"", Config(path_), Task::kEmbedding, size};
  }
  const std::string path_ =
      (std::filesystem::path(testing::TempDir()) / fmt::format("image_config_{}.json", getpid())).string();
};

struct PatchCase {
  uint32_t height, width, patch;
  PartialPatches partial;
};
constexpr uint32_t kChannels = 2;

// Patches row by row, each channel by channel: the pixel (c, y, x) is the number of its place in memory,
// 1 + (c * height + y) * width + x, and 0 is padding.
std::vector<int> PatchesOf(const PatchCase& p) {
  const bool padded = p.partial == PartialPatches::kPadded;
  const auto count = [&](uint32_t size) { return padded ? (size + p.patch - 1) / p.patch : size / p.patch; };
  const uint32_t down = count(p.height), across = count(p.width), pixels = p.patch * p.patch;
  std::vector<int> expected;
  for (uint32_t i = 0; i < down * across * kChannels * pixels; ++i) {
    const uint32_t pixel = i % pixels, channel = i / pixels % kChannels, patch = i / pixels / kChannels;
    const uint32_t y = patch / across * p.patch + pixel / p.patch, x = patch % across * p.patch + pixel % p.patch;
    const bool inside = y < p.height && x < p.width;
    expected.push_back(inside ? static_cast<int>(1 + (channel * p.height + y) * p.width + x) : 0);
  }
  return expected;
}

TEST_F(Images, PatchesOfAnySize) {
  const std::vector<uint32_t> heights = {4, 7, 9}, widths = {4, 6, 9, 10}, patches = {1, 3, 4};
  const std::vector<PartialPatches> partials = {PartialPatches::kDropped, PartialPatches::kPadded};
  for (const PatchCase& p : Combinations<PatchCase>(heights, widths, patches, partials)) {
    const uint32_t leading = p.width % 3;
    const ImageInput image(
        With({{"num_channels", kChannels}, {"image_size", {p.height, p.width}}, {"patch_size", p.patch}}), p.partial);
    const uint32_t strip = image.Pixels().width;
    const Constant table = image.PatchTable(leading);
    std::vector<int> found;
    for (const int index : Whole(table)) {
      for (uint32_t i = 0; i < strip; ++i) {
        found.push_back(index < 0 ? 0 : 1 + index * static_cast<int>(strip) + static_cast<int>(i));
      }
    }
    std::vector<int> expected(leading * kChannels * p.patch * p.patch, 0);
    const std::vector<int> patches_of = PatchesOf(p);
    expected.insert(expected.end(), patches_of.begin(), patches_of.end());
    EXPECT_EQ(found, expected) << p.height << " x " << p.width << " by " << p.patch;
    EXPECT_EQ(table.rows, leading + image.patches().count());
    EXPECT_EQ(image.Spaces()[1].each * strip, kChannels * p.height * p.width);
  }
}

// Input of a convolution: the table's strips and the filters' zeros together are the pixels of each patch.
TEST_F(Images, PatchesThatOverlap) {
  const uint32_t channels = 2;
  for (const uint32_t height : {7u, 8u}) {
    for (const uint32_t width : {6u, 8u, 9u}) {
      for (const auto& [size, stride] : {std::pair{3u, 2u}, {7u, 4u}, {4u, 4u}, {2u, 3u}}) {
        const uint32_t padding = size / 2;
        const ImageInput image(With({{"num_channels", channels}, {"image_size", {height, width}}}),
                               OverlappingPatches{size, stride, padding});
        const uint32_t strip = image.Pixels().width, pixels = channels * size * size;
        std::vector<float> numbers(pixels);
        for (uint32_t i = 0; i < pixels; ++i) numbers[i] = static_cast<float>(i + 1);
        const std::vector<float> filter = image.Filters(Literal(1, pixels, numbers)).load();
        const std::vector<int> table = Whole(image.PatchTable(0));
        const Grid grid = image.patches();
        ASSERT_EQ(table.size() * strip, filter.size() * grid.count());
        for (uint32_t patch = 0; patch < grid.count(); ++patch) {
          double found = 0, expected = 0;
          for (size_t i = 0; i < filter.size(); ++i) {
            const int row = table[patch * filter.size() / strip + i / strip];
            const double pixel = row < 0 ? 0 : std::sin(row * static_cast<int>(strip) + static_cast<int>(i % strip));
            found += filter[i] * pixel;
          }
          for (uint32_t i = 0; i < pixels; ++i) {
            const int y = static_cast<int>(patch / grid.columns * stride + i / size % size) - static_cast<int>(padding);
            const int x = static_cast<int>(patch % grid.columns * stride + i % size) - static_cast<int>(padding);
            if (y < 0 || x < 0 || y >= static_cast<int>(height) || x >= static_cast<int>(width)) continue;
            const uint32_t channel = i / (size * size);
            expected +=
                numbers[i] * std::sin(static_cast<int>((channel * height + static_cast<uint32_t>(y)) * width) + x);
          }
          EXPECT_NEAR(found, expected, 1e-9) << height << " x " << width << " by " << size;
        }
      }
    }
  }
}

TEST_F(Images, SizesAreChecked) {
  const Json fine = {{"image_size", 8}, {"patch_size", 4}};
  EXPECT_EQ(ImageInput(With(fine, "12x20"), PartialPatches::kDropped).patches().count(), 15u);
  EXPECT_EQ(ImageInput(With(fine, "12x20"), PartialPatches::kDropped).trained_patches().count(), 4u);
  for (const char* size : {"12", "x", "12x", "0x4", "12x-4", "9999999x4", "12x20x3", "3x20"}) {
    EXPECT_THROW(ImageInput(With(fine, size), PartialPatches::kDropped), Failure) << size;
  }
  for (const char* bad : {R"({"image_size": [8, 8, 8], "patch_size": 4})", R"({"image_size": 8, "patch_size": 0})",
                          R"({"image_size": "8", "patch_size": 4})", R"({"patch_size": 4})",
                          R"({"image_size": 8, "patch_size": 4, "num_channels": 0})"}) {
    EXPECT_THROW(ImageInput(With(Json::parse(bad)), PartialPatches::kDropped), Failure) << bad;
  }
  EXPECT_THROW(ImageInput(With(fine, "16384x16384"), PartialPatches::kDropped).Spaces(), Failure);
}

// ---- Windows ----

// A grid rolled up and to the left as an array is, then cut; cell (y, x) of the padded grid holds y * 1000 + x.
std::vector<int> RolledWindows(Grid padded, uint32_t window, uint32_t shift) {
  std::vector<int> cells;
  for (uint32_t y = 0; y < padded.rows; ++y) {
    for (uint32_t x = 0; x < padded.columns; ++x) cells.push_back(static_cast<int>(y * 1000 + x));
  }
  for (uint32_t y = 0; y < padded.rows; ++y) {
    const auto row = cells.begin() + y * padded.columns;
    std::rotate(row, row + shift, row + padded.columns);
  }
  std::rotate(cells.begin(), cells.begin() + shift * padded.columns, cells.end());
  std::vector<int> windows;
  for (uint32_t top = 0; top < padded.rows; top += window) {
    for (uint32_t left = 0; left < padded.columns; left += window) {
      for (uint32_t y = top; y < top + window; ++y) {
        for (uint32_t x = left; x < left + window; ++x) windows.push_back(cells[y * padded.columns + x]);
      }
    }
  }
  return windows;
}

TEST(Windows, AreCutFromTheShiftedGrid) {
  for (const Grid grid : {Grid{4, 4}, Grid{5, 9}, Grid{10, 7}, Grid{12, 8}}) {
    for (const uint32_t window : {2u, 3u, 4u}) {
      for (const uint32_t shift : {0u, window / 2}) {
        const ImageWindows windows(grid, window, shift);
        const Grid padded = {(grid.rows + window - 1) / window * window, (grid.columns + window - 1) / window * window};
        std::vector<int> expected;
        for (const int cell : RolledWindows(padded, window, shift)) {
          const int y = cell / 1000, x = cell % 1000, columns = static_cast<int>(grid.columns);
          expected.push_back(y < static_cast<int>(grid.rows) && x < columns ? y * columns + x : -1);
        }
        const std::vector<int> into = Whole(windows.IntoWindows()), out = Whole(windows.OutOfWindows());
        EXPECT_EQ(into, expected);
        EXPECT_EQ(windows.count() * windows.size(), into.size());
        ASSERT_EQ(out.size(), grid.count());
        for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(into[static_cast<size_t>(out[i])], static_cast<int>(i));
      }
    }
  }
}

// Every pair of positions of every window: the bias that the attention adds is the stored one of their offset, or hides
// the key where the two are neighbours through the shift only.
struct WindowCase {
  Grid grid;
  uint32_t window;
  bool shifted;  // by half a window
};

// Compares the biases of query q and key k, two cells of window w, with the stored ones of their offset.
void ExpectBias(const ImageWindows& windows, int side, const std::vector<int>& cells, const Constant& bias,
                const std::vector<float>& stored, int w, int q, int k) {
  const std::vector<float> table = bias.load();
  const std::vector<int> coordinates = Whole(windows.Coordinates());
  const int width = static_cast<int>(bias.width), reach = width / 2, size = side * side, offsets = 2 * side - 1;
  const int set = static_cast<int>(windows.Coordinates().rows) == 1 ? 0 : w * size;
  const int distance = coordinates[static_cast<size_t>(set + k)] - coordinates[static_cast<size_t>(set + q)];
  const int column = std::clamp(distance, -reach, reach) + reach;
  // Cells that the roll brought together are a window or more apart in the grid itself.
  const int from = cells[static_cast<size_t>(w * size + q)], to = cells[static_cast<size_t>(w * size + k)];
  const bool apart = std::abs(from / 1000 - to / 1000) >= side || std::abs(from % 1000 - to % 1000) >= side;
  const int dy = q / side - k / side, dx = q % side - k % side;
  const int index = (dy + side - 1) * offsets + dx + side - 1;
  for (int head = 0; head < 2; ++head) {
    const float expected = apart ? -INFINITY : stored[static_cast<size_t>(2 * index + head)];
    EXPECT_EQ(table[static_cast<size_t>(head * width + column)], expected);
  }
}

TEST(Windows, CoordinatesFindTheBias) {
  const std::vector<Grid> grids = {{8, 8}, {5, 9}, {6, 10}};
  for (const WindowCase& c : Combinations<WindowCase>(grids, std::vector{2u, 3u, 4u}, kOffAndOn)) {
    const uint32_t window = c.window, shift = c.shifted ? window / 2 : 0;
    const ImageWindows windows(c.grid, window, shift);
    const int side = static_cast<int>(window), offsets = 2 * side - 1, size = side * side;
    std::vector<float> stored(2 * static_cast<size_t>(offsets * offsets));
    for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<float>(i);
    const Constant bias = HidingBias(Literal(static_cast<uint32_t>(offsets * offsets), 2, stored));
    EXPECT_TRUE(bias.hides);
    const Grid padded = {(c.grid.rows + window - 1) / window * window, (c.grid.columns + window - 1) / window * window};
    const std::vector<int> cells = RolledWindows(padded, window, shift);
    const int pairs = static_cast<int>(windows.count()) * size * size;
    for (int i = 0; i < pairs; ++i) {
      ExpectBias(windows, side, cells, bias, stored, i / size / size, i / size % size, i % size);
    }
  }
}

TEST(Windows, FourPatchesBecomeOne) {
  EXPECT_EQ(Whole(MergeTable({2, 4})), (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(Whole(MergeTable({3, 3})), (std::vector<int>{0, 3, 1, 4, 2, 5, -1, -1, 6, -1, 7, -1, 8, -1, -1, -1}));
  EXPECT_EQ(Whole(MergeTable({1, 1})), (std::vector<int>{0, -1, -1, -1}));
}

// ---- Convolutions over grids ----

TEST(Grids, FiltersCoverCells) {
  const Filter filter = {3, 2, 1};
  const Grid out = Convolved({5, 4}, filter);
  EXPECT_EQ(out.rows, 3u);
  EXPECT_EQ(out.columns, 2u);
  const std::vector<int> table = Whole(FilterTable({5, 4}, filter));
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 9; ++k) {
      const int y = i / 2 * 2 + k / 3 - 1, x = i % 2 * 2 + k % 3 - 1;
      const bool inside = y >= 0 && y < 5 && x >= 0 && x < 4;
      EXPECT_EQ(table[static_cast<size_t>(9 * i + k)], inside ? 4 * y + x : -1);
    }
  }
  // Two channels of 2 x 2 become four cells of two numbers.
  const Constant stored = Literal(1, 8, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(FiltersByCell(stored, {2, 2, 0}).load(), (std::vector<float>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(Convolved({2, 1}, {3, 1, 0}).count(), 0u);
  EXPECT_THROW(FilterTable({2, 1}, {3, 1, 0}), Failure);
  EXPECT_THROW(FiltersByCell(stored, {3, 1, 1}), Failure);
  EXPECT_THROW(Convolved({2, 2}, {2, 0, 0}), Failure);
}

TEST(Grids, Blend) {
  // Twice as long: a quarter of the way, ends repeated.
  const Blend blend = Bilinear({1, 3}, {1, 6});
  const std::vector<float> found = Blended(Literal(3, 1, {0, 4, 8}), blend).load();
  EXPECT_EQ(found, (std::vector<float>{0, 1, 3, 5, 7, 8}));
  // Shorter, and in both directions: what is a plane stays one.
  const std::vector<float> plane =
      Blended(Literal(12, 1, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}), Bilinear({3, 4}, {2, 2})).load();
  EXPECT_NEAR(plane[0], 2.5 + 0.5, 1e-5);
  EXPECT_NEAR(plane[3], 17.5 + 2.5, 1e-5);
  EXPECT_THROW(Bilinear({0, 3}, {1, 6}), Failure);
}

// ---- Constants ----

TEST(Constants, GridsAreResampled) {
  // A grid of the same size is left alone, what is constant stays so; on a ramp, a quarter of the way is .296875.
  const Constant ramp = Literal(6, 2, {0, 5, 1, 5, 2, 5, 3, 5, 4, 5, 5, 5});
  EXPECT_EQ(Resample(ramp, {2, 3}, {2, 3}).load(), ramp.load());
  const Constant wide = Resample(ramp, {1, 6}, {1, 12});
  EXPECT_EQ(wide.rows, 12u);
  const std::vector<float> values = wide.load();
  for (uint32_t x = 0; x < 12; ++x) {
    EXPECT_NEAR(values[2 * x + 1], 5, 1e-6);
    if (x >= 3 && x < 9) {
      EXPECT_NEAR(values[2 * x], (x - 1) / 2 + (x % 2 == 1 ? 0.296875 : 0.703125), 1e-6);
    }
  }
  // Between 0 and 1 with the border repeated: weights of a = -0.75 at a quarter are -.10546875, .87890625, .26171875,
  // -.03515625.
  const Constant up = Resample(Literal(2, 1, {0, 1}), {2, 1}, {4, 1});
  const float expected[] = {-0.10546875f, 0.2265625f, 0.7734375f, 1.10546875f};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(up.load()[i], expected[i], 1e-6);
  EXPECT_THROW(Resample(ramp, {2, 2}, {4, 4}), Failure);
}

TEST(Constants, OnlyWhatHidesMayBeInfinite) {
  BlobTensor tensor;
  tensor.rows = 1;
  tensor.width = 2;
  EncodeTensor({1, -INFINITY}, tensor, true);
  EXPECT_EQ(DecodeTensor(tensor), (std::vector<float>{1, -INFINITY}));
  EXPECT_THROW(EncodeTensor({1, -INFINITY}, tensor), Failure);
  EXPECT_THROW(EncodeTensor({1, INFINITY}, tensor, true), Failure);
  EXPECT_THROW(EncodeTensor({1, NAN}, tensor, true), Failure);
  tensor.type = DType::kI8;
  EXPECT_THROW(EncodeTensor({1, -INFINITY}, tensor, true), Failure);
  EXPECT_THROW(HidingBias(Literal(2, 1, {1, 2})), Failure);
}

// ---- Published models ----

std::string Golden(const std::string& name) { return test::InData("hf/" + name); }

std::vector<uint8_t> Blob(const std::string& directory, const std::string& size, ConvertReport* report) {
  ConvertOptions options;
  options.input = directory;
  if (!size.empty()) options.image_sizes = {size};
  return BuildBlob(Describe(options), options, *report);
}

std::string Refusal(const std::string& directory, const std::string& size) {
  try {
    ConvertReport report;
    Blob(directory, size, &report);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

TEST(ImageModels, SayWhatTheyTake) {
  const std::string directory = Golden("vit");
  ConvertReport report;
  const test::AlignedBytes blob(Blob(directory, "", &report));
  EXPECT_TRUE(report.unused.empty());
  EXPECT_TRUE(report.warnings.empty() || report.warnings.size() == 1u);  // no tokenizer
  const Model model(blob.data(), blob.size(), "vit", {FOVEA_BACKEND_DEFAULT, false});
  EXPECT_STREQ(model.Metadata("shape.pixel_values"), "3 24 24");
  EXPECT_STREQ(model.Metadata("task"), "image-classification");
  EXPECT_STREQ(model.Metadata("label.4"), "LABEL_4");
  const std::vector<float> pixels(2 * 3 * 24 * 24);
  const auto bind = [&](std::vector<uint64_t> shape) {
    StoredTensor tensor;
    tensor.type = ElementType::kF32;
    tensor.shape = std::move(shape);
    tensor.data = reinterpret_cast<const uint8_t*>(pixels.data());
    tensor.bytes = 4;
    for (const uint64_t size : tensor.shape) tensor.bytes *= size;
    return BatchFromTensors(model, 0, {{"pixel_values", tensor}}).numbers.begin()->second.size();
  };
  EXPECT_EQ(bind({2, 3, 24, 24}), 2u * 3 * 24 * 24);
  EXPECT_EQ(bind({3, 24, 24}), 3u * 24 * 24);
  EXPECT_EQ(bind({0, 3, 24, 24}), 0u);
  for (const std::vector<uint64_t>& shape :
       std::vector<std::vector<uint64_t>>{{1, 3, 12, 48}, {3, 24, 24, 1}, {1, 432, 4}, {24, 24}, {1, 1, 3, 24, 24}}) {
    EXPECT_THROW(bind(shape), Failure);
  }
}

TEST(ImageModels, RefuseSizesThatDoNotFit) {
  const std::string swin = Golden("swin-rect"), vit = Golden("vit"), bert = Golden("bert");
  // A stage of 2 x 8 patches: windows shrink, but their biases are stored for windows of 3.
  EXPECT_NE(Refusal(swin, "16x64").find("windows of 2 on 2 x 8 patches need 9"), std::string::npos);
  EXPECT_NE(Refusal(vit, "3x64").find("are smaller than one patch"), std::string::npos);
  EXPECT_NE(Refusal(bert, "16x64").find("bert does not read images"), std::string::npos);
}

// Swin's hidden states once more, channels first.
TEST(ImageModels, HiddenStatesAsPictures) {
  const std::string directory = Golden("swin");
  ConvertOptions options;
  options.input = directory;
  ConvertReport report;
  const LoadedBlob blob(BuildBlob(Describe(options), options, report), "swin");
  const SafetensorsReader golden(directory + "/golden.safetensors");
  StoredTensors cases = {{"a.in.pixel_values", golden.Get("a.in.pixel_values")}};
  std::vector<std::vector<float>> pictures;
  const uint64_t sides[] = {16, 8, 8};
  pictures.reserve(3);
  for (uint64_t i = 0; i < 3; ++i) {
    const StoredTensor& stored = golden.Get("a.out.hidden_states." + std::to_string(i));
    const std::vector<float> states = ToFloats(stored);
    const uint64_t places = stored.shape[1], width = stored.shape[2], side = sides[i];
    std::vector<float>& picture = pictures.emplace_back(states.size());
    for (size_t at = 0; at < states.size(); ++at) picture[at % width * places + at / width] = states[at];
    cases["a.out.reshaped_hidden_states." + std::to_string(i)] = {ElementType::kF32,
                                                                  {1, width, side, side},
                                                                  reinterpret_cast<const uint8_t*>(picture.data()),
                                                                  picture.size() * sizeof(float)};
  }
  const auto lines = CheckGolden(blob.model, cases, {});
  EXPECT_EQ(lines.size(), 3u);
  for (const CheckLine& line : lines) EXPECT_TRUE(line.ok && line.compared) << LineText(line);
}

}  // namespace
}  // namespace fovea::tools
