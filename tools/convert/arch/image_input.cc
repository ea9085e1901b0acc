// The input of encoders of images.
#include "tools/convert/arch/image_input.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/processor_file.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kLargest = 1u << 14;  // for every extent: products of three stay within 64 bits

Grid Checked(const std::string& what, uint64_t rows, uint64_t columns) {
  if (rows == 0 || columns == 0 || rows > kLargest || columns > kLargest) {
    Fail("{}: {} x {} is out of range", what, rows, columns);
  }
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
}

// A number, or [height, width].
Grid Extent(const JsonView& value, uint32_t absent = 0) {
  const WholeRange range = {1, kLargest};
  if (value.json().is_null() && absent != 0) return {absent, absent};
  if (!value.json().is_array()) {
    const uint32_t both = value.Number(range);
    return {both, both};
  }
  if (value.json().size() != 2) Fail("{} must be one or two whole numbers, not {}", value.name(), Shown(value.json()));
  return {value.At(0).Number(range), value.At(1).Number(range)};
}

Grid Extent(const Config& config, const std::string& key, uint32_t absent = 0) {
  return Extent(config.View(key), absent);
}

// The size made by the processor of the directory; nothing if none can be read, which is reported where the
// preparation is read.
std::optional<Grid> PreparedExtent(const std::string& directory) {
  try {
    const std::optional<ProcessorFile> found = FindProcessor(directory, "image_processor");
    if (!found) return std::nullopt;
    const Config preparation = found->config();
    const Json& size = preparation.Get("size");
    if (size.is_object() && size.contains("height") && size.contains("width")) {
      const Config sides(preparation, "size");
      return Checked("preprocessor_config.json: size", sides.Number("height"), sides.Number("width"));
    }
    // Pictures that keep their shape: a square, from whose middle the program reads.
    for (const char* edge : {"shortest_edge", "longest_edge"}) {
      if (!size.is_object() || !size.contains(edge) || size[edge].is_null()) continue;
      const uint64_t side = Config(preparation, "size").Number(edge);
      return Checked("preprocessor_config.json: size", side, side);
    }
    if (!size.is_null() && !size.is_object()) return Extent(preparation, "size");
  } catch (const Failure&) {
    return std::nullopt;
  }
  return std::nullopt;
}

// The size of images that a model is used with, if its shapes do not depend on it.
Grid UsualExtent(const Checkpoint& checkpoint) {
  if (const std::optional<Grid> prepared = PreparedExtent(checkpoint.directory)) return *prepared;
  const Json& configured = checkpoint.config.Get("image_size");
  if (configured.is_null()) Fail("config.json has no image_size: give it by --image-size HEIGHTxWIDTH");
  return Extent(checkpoint.config, "image_size");
}

Grid AskedExtent(const std::string& text) {
  const size_t x = text.find('x');
  const auto number = [&](const std::string& digits) -> uint64_t {
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) {
      Fail("image size {} is not HEIGHTxWIDTH", text);
    }
    return std::stoull(digits);
  };
  if (x == std::string::npos) Fail("image size {} is not HEIGHTxWIDTH", text);
  return Checked("image size", number(text.substr(0, x)), number(text.substr(x + 1)));
}

}  // namespace

ImageInput::ImageInput(const Checkpoint& checkpoint, PartialPatches partial, const ImageSizes& sizes)
    : channels_(checkpoint.config.Number("num_channels", 3)),
      image_(Extent(checkpoint.config, sizes.key, sizes.image)),
      trained_(image_),
      patch_(Extent(checkpoint.config, "patch_size", sizes.patch)),
      stride_(patch_),
      partial_(partial) {
  if (!checkpoint.image_size.empty()) image_ = AskedExtent(checkpoint.image_size);
  SetStrip();
}

ImageInput::ImageInput(const Checkpoint& checkpoint, const OverlappingPatches& patches)
    : channels_(checkpoint.config.Number("num_channels", 3)),
      image_(checkpoint.image_size.empty() ? UsualExtent(checkpoint) : AskedExtent(checkpoint.image_size)),
      trained_(image_),
      patch_{patches.size, patches.size},
      stride_{patches.stride, patches.stride},
      padding_(patches.padding),
      partial_(PartialPatches::kDropped) {
  if (std::min(patches.size, patches.stride) == 0 || patches.size > kLargest || patches.padding >= patches.size) {
    Fail("config.json: patches of {} pixels with stride {} are out of range", patches.size, patches.stride);
  }
  SetStrip();
}

void ImageInput::SetStrip() {
  if (channels_ == 0 || channels_ > kLargest) Fail("config.json: num_channels {} is out of range", channels_);
  if (patches().count() == 0) Fail("images of {} x {} are smaller than one patch", image_.rows, image_.columns);
  strip_ = std::gcd(image_.columns, stride_.columns);
}

Grid ImageInput::Patches(Grid image) const {
  const auto count = [&](uint32_t size, uint32_t patch, uint32_t stride) {
    if (partial_ == PartialPatches::kPadded) return (size + patch - 1) / patch;
    return size + 2 * padding_ < patch ? 0 : (size + 2 * padding_ - patch) / stride + 1;
  };
  return {count(image.rows, patch_.rows, stride_.rows), count(image.columns, patch_.columns, stride_.columns)};
}

std::vector<Space> ImageInput::Spaces() const {
  Space strips = {"strips", "images"};
  const uint64_t rows = uint64_t{channels_} * image_.count() / strip_;
  if (rows > kMaxRecords) Fail("images of {} x {} are too large", image_.rows, image_.columns);
  strips.each = static_cast<uint32_t>(rows);
  return {{"images"}, strips};
}

Input ImageInput::Pixels() const { return {"pixel_values", "strips", false, strip_}; }

void ImageInput::SetMetadata(Description& description) const {
  description.SetMetadata("shape.pixel_values", fmt::format("{} {} {}", channels_, image_.rows, image_.columns));
}

Constant ImageInput::PatchTable(uint32_t leading) const {
  const int64_t in_row = image_.columns / strip_, in_patch = StripsInRow(), height = image_.rows;
  const uint64_t columns = uint64_t{channels_} * patch_.rows * StripsInRow();
  const uint64_t rows = uint64_t{leading} + patches().count();
  if (rows > kMaxRecords || columns > kMaxRecords)
    Fail("{} patches of {} strips of pixels are too many", rows, columns);
  std::vector<int32_t> table(leading * columns, -1);
  for (uint32_t patch = 0; patch < patches().count(); ++patch) {
    const int64_t padding = padding_, top = int64_t{patch / patches().columns} * stride_.rows - padding;
    // The first pixel of a strip, so the division below is exact.
    const int64_t first = int64_t{patch % patches().columns} * stride_.columns - padding - PixelsBefore();
    const int64_t left = first / strip_;
    for (uint32_t channel = 0; channel < channels_; ++channel) {
      for (int64_t y = top; y < top + patch_.rows; ++y) {
        for (int64_t x = left; x < left + in_patch; ++x) {
          const bool inside = y >= 0 && y < height && x >= 0 && x < in_row;
          table.push_back(inside ? static_cast<int32_t>((channel * height + y) * in_row + x) : -1);
        }
      }
    }
  }
  return Indices(static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), table);
}

Constant ImageInput::Filters(const Constant& stored) const {
  const uint32_t lines = channels_ * patch_.rows, before = PixelsBefore(), length = StripsInRow() * strip_;
  if (stored.width != uint64_t{lines} * patch_.columns) {
    Fail("filters of {} numbers do not fit patches of {} channels, {} x {} pixels", stored.width, channels_,
         patch_.rows, patch_.columns);
  }
  if (length == patch_.columns) return stored;
  return {stored.rows, lines * length, [stored, lines, before, length, pixels = patch_.columns] {
            const std::vector<float> from = stored.load();
            std::vector<float> to(uint64_t{stored.rows} * lines * length);
            for (uint64_t line = 0; line < uint64_t{stored.rows} * lines; ++line) {
              const auto begin = from.begin() + static_cast<ptrdiff_t>(line * pixels);
              std::copy(begin, begin + pixels, to.begin() + static_cast<ptrdiff_t>(line * length + before));
            }
            return to;
          }};
}

}  // namespace fovea::tools
