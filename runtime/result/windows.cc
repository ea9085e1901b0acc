// Windows of a pair of texts.
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/result/answers.h"
#include "runtime/result/tokens.h"

namespace fovea {
namespace {

// Copies entries of `width` elements: [0, cut), [from, to) and [rest, count).
struct Parts {
  uint64_t cut, from, to, rest, count;

  template <typename T>
  void Copy(const T* in, uint64_t width, T* out) const {
    if (out == nullptr) return;
    const uint64_t pieces[][2] = {{0, cut}, {from, to}, {rest, count}};
    for (const auto& piece : pieces) {
      const uint64_t entries = (piece[1] - piece[0]) * width;
      if (entries != 0) memcpy(out, in + piece[0] * width, static_cast<size_t>(entries) * sizeof(T));
      out += entries;
    }
  }
  uint64_t size() const { return cut + (to - from) + (count - rest); }
};

}  // namespace

Status CutWindow(const fovea_text_tokens& pair, uint32_t max_length, uint32_t stride, uint64_t window,
                 Reporter& reporter, fovea_text_tokens* out) {
  const TokenRange second = SecondOf(pair);
  const uint64_t around = pair.count - second.size();
  uint64_t windows = 1, begin = second.begin, end = second.end;
  if (pair.count > max_length) {
    if (around + stride >= max_length) {
      return reporter.Fail(FOVEA_E_LENGTH,
                           "the first text leaves no room for more than the shared tokens of the second",
                           around + stride + 1, max_length);
    }
    const uint64_t room = max_length - around, advance = room - stride;
    windows = 1 + DivideUp(second.size() - room, advance);
    if (window < windows) {
      begin += window * advance;
      end = begin + room < second.end ? begin + room : second.end;
    }
  }
  out->windows = windows;
  if (window >= windows) return reporter.Fail(FOVEA_E_INDEX, "the pair has fewer windows", windows, window);
  const Parts parts = {second.begin, begin, end, second.end, pair.count};
  out->count = parts.size();
  for (uint32_t i = 0; i < 2; ++i) out->text_tokens[i] = pair.text_tokens[i];
  if (out->count > out->capacity) {
    return reporter.Fail(FOVEA_E_CAPACITY, "the arrays of the window are too small", out->count, out->capacity);
  }
  parts.Copy(pair.ids, 1, out->ids);
  parts.Copy(pair.types, 1, out->types);
  parts.Copy(pair.special, 1, out->special);
  parts.Copy(pair.ranges, 2, out->ranges);
  return kOk;
}

}  // namespace fovea
