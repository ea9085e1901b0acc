// How the rows of a strided space and of its source belong together. A segment of n rows: the first `first` stay rows
// of their own, of the others every `stride` become one, the last `last` of them left out (but never the first of
// them).
#ifndef FOVEA_RUNTIME_BLOB_STRIDES_H_
#define FOVEA_RUNTIME_BLOB_STRIDES_H_

#include "runtime/base/checked.h"
#include "runtime/blob/format.h"

namespace fovea {

struct Strides {
  uint64_t first, stride, last;

  Strides(uint64_t first_rows, uint64_t by, uint64_t last_rows) : first(first_rows), stride(by), last(last_rows) {}
  explicit Strides(const SpaceRecord& space) : Strides(space.first, space.extra, space.last) {}

  // Rows of the source's segment of n rows that are not left out.
  uint64_t Used(uint64_t n) const { return n > first + 1 ? (n - first - 1 > last ? n - last : first + 1) : n; }
  // Rows that such a segment becomes.
  uint64_t Rows(uint64_t n) const { return n <= first ? n : first + DivideUp(Used(n) - first, stride); }
  // The longest segment of the source that becomes at most so many rows.
  uint64_t Longest(uint64_t rows) const { return rows <= first ? rows : first + (rows - first) * stride + last; }
  // The first row of the source's segment that row i stands for; it stands for all up to that of the next one.
  uint64_t Source(uint64_t i) const { return i <= first ? i : first + (i - first) * stride; }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_STRIDES_H_
