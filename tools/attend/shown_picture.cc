// Converts the model's image input back to an image.
#include "tools/attend/shown_picture.h"

#include <algorithm>

namespace fovea::tools {
namespace {

// A byte is value * factor + shift.
struct Level {
  double factor = 1, shift = 0;
};

Level LevelOf(const Preparation& preparation, uint32_t channel) {
  return {preparation.Deviation(channel) / preparation.factor, preparation.Mean(channel) / preparation.factor};
}

Level LevelOf(const float* values, size_t count) {
  const auto [least, most] = std::minmax_element(values, values + count);
  if (count == 0 || !(*most > *least)) return {};
  const double factor = 255.0 / (double{*most} - double{*least});
  return {factor, -double{*least} * factor};
}

uint8_t ByteOf(double level) { return level == level ? static_cast<uint8_t>(std::clamp(level, 0.0, 255.0) + 0.5) : 0; }

}  // namespace

Picture ShownPicture(const float* values, uint32_t channels, Extent size,
                     const std::optional<Preparation>& preparation) {
  const size_t count = size_t{size.width} * size.height;
  const bool blue_first = preparation && preparation->blue_first && channels == 3;
  Picture picture = {size.width, size.height, 3, std::vector<uint8_t>(3 * count)};
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t channel = channels < 3 ? 0 : i;
    const float* plane = values + (blue_first ? 2 - channel : channel) * count;
    const Level level = preparation ? LevelOf(*preparation, channel) : LevelOf(values, count * channels);
    for (size_t at = 0; at < count; ++at) picture.pixels[3 * at + i] = ByteOf(plane[at] * level.factor + level.shift);
  }
  return picture;
}

}  // namespace fovea::tools
