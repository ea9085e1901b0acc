#include "tools/model/view_rows.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#include "tools/base/half.h"

namespace fovea::tools {
namespace {

template <typename T>
T At(const uint8_t* bytes, size_t i) {
  T element;
  memcpy(&element, bytes + i * sizeof(T), sizeof(T));
  return element;
}

template <typename T>
void Put(T element, uint8_t* bytes, size_t i) {
  memcpy(bytes + i * sizeof(T), &element, sizeof(T));
}

uint8_t* Bytes(const fovea_view& view, uint32_t row) {
  return static_cast<uint8_t*>(view.data) + static_cast<size_t>(row) * view.row_bytes;
}

// Number of parts of an int8 row; each has a scale.
size_t PartsOf(const fovea_view& view) { return (view.row_bytes - view.width) / sizeof(float); }

void WriteInt8(const float* from, size_t width, size_t parts, uint8_t* to) {
  const size_t size = width / parts;
  for (size_t part = 0; part < parts; ++part, from += size) {
    float largest = 0;
    for (size_t i = 0; i < size; ++i) largest = std::max(largest, fabsf(from[i]));
    const float scale = largest / 127;
    Put(scale, to, part);
    for (size_t i = 0; i < size; ++i) {
      const float integer = scale > 0 ? std::clamp(rintf(from[i] / scale), -127.0f, 127.0f) : 0;
      Put(static_cast<int8_t>(integer), to + parts * sizeof(float), part * size + i);
    }
  }
}

}  // namespace

void ReadRow(const fovea_view& view, uint32_t row, float* to) {
  const uint8_t* from = Bytes(view, row);
  const size_t parts = PartsOf(view);
  for (size_t i = 0; i < view.width; ++i) {
    switch (view.type) {
      case FOVEA_TYPE_F16:
        to[i] = FromHalf(At<uint16_t>(from, i));
        break;
      case FOVEA_TYPE_BF16:
        to[i] = FromBf16(At<uint16_t>(from, i));
        break;
      case FOVEA_TYPE_I32:
        to[i] = static_cast<float>(At<int32_t>(from, i));
        break;
      case FOVEA_TYPE_I8:
        to[i] = At<float>(from, i / (view.width / parts)) * At<int8_t>(from + parts * sizeof(float), i);
        break;
      default:
        to[i] = At<float>(from, i);
    }
  }
}

void WriteRow(const float* from, const fovea_view& view, uint32_t row) {
  uint8_t* to = Bytes(view, row);
  if (view.type == FOVEA_TYPE_I8) return WriteInt8(from, view.width, PartsOf(view), to);
  for (size_t i = 0; i < view.width; ++i) {
    if (view.type == FOVEA_TYPE_F16) {
      Put(ToHalf(from[i]), to, i);
    } else if (view.type == FOVEA_TYPE_BF16) {
      Put(ToBf16(from[i]), to, i);
    } else {
      Put(from[i], to, i);
    }
  }
}

}  // namespace fovea::tools
