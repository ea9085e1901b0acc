// What encoders of images read.
#include "tools/convert/arch/image_input.h"

#include <numeric>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kLargest = 1u << 14;  // of any extent: products of three stay within 64 bits

Grid Checked(const std::string& what, uint64_t rows, uint64_t columns) {
  if (rows == 0 || columns == 0 || rows > kLargest || columns > kLargest) {
    Fail("{}: {} x {} is out of range", what, rows, columns);
  }
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
}

// A number, or [height, width].
Grid Extent(const Config& config, const std::string& key) {
  const JsonView value = config.View(key);
  const WholeRange range = {1, kLargest};
  if (!value.json().is_array()) {
    const uint32_t both = value.Number(range);
    return {both, both};
  }
  if (value.json().size() != 2) Fail("{} must be a whole number or two, not {}", value.name(), Shown(value.json()));
  return {value.At(0).Number(range), value.At(1).Number(range)};
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

ImageInput::ImageInput(const Checkpoint& checkpoint, PartialPatches partial)
    : channels_(checkpoint.config.Number("num_channels", 3)),
      image_(Extent(checkpoint.config, "image_size")),
      trained_(image_),
      patch_(Extent(checkpoint.config, "patch_size")),
      partial_(partial) {
  if (!checkpoint.image_size.empty()) image_ = AskedExtent(checkpoint.image_size);
  if (channels_ == 0 || channels_ > kLargest) Fail("config.json: num_channels {} is out of range", channels_);
  if (patches().count() == 0) Fail("images of {} x {} hold no patch", image_.rows, image_.columns);
  strip_ = std::gcd(image_.columns, patch_.columns);
}

Grid ImageInput::Patches(Grid image) const {
  const auto count = [&](uint32_t size, uint32_t patch) {
    return (size + (partial_ == PartialPatches::kPadded ? patch - 1 : 0)) / patch;
  };
  return {count(image.rows, patch_.rows), count(image.columns, patch_.columns)};
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
  const uint32_t in_row = image_.columns / strip_, in_patch = patch_.columns / strip_;
  const uint64_t columns = uint64_t{channels_} * patch_.rows * in_patch;
  const uint64_t rows = uint64_t{leading} + patches().count();
  if (rows > kMaxRecords || columns > kMaxRecords) Fail("{} patches of {} strips are too many", rows, columns);
  std::vector<int32_t> table(leading * columns, -1);
  for (uint32_t patch = 0; patch < patches().count(); ++patch) {
    const uint32_t top = patch / patches().columns * patch_.rows, left = patch % patches().columns * in_patch;
    for (uint32_t channel = 0; channel < channels_; ++channel) {
      for (uint32_t y = top; y < top + patch_.rows; ++y) {
        for (uint32_t x = left; x < left + in_patch; ++x) {
          const bool inside = y < image_.rows && x < in_row;
          table.push_back(inside ? static_cast<int32_t>((channel * image_.rows + y) * in_row + x) : -1);
        }
      }
    }
  }
  return Indices(static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), table);
}

}  // namespace fovea::tools
