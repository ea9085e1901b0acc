// Maps rows of a strided space to rows of its source. In a segment of n source rows the first `first` rows map one to
// one; then every `stride` rows become one. The last `last` rows are left out, but never the row that follows the first
// ones.
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
  // Rows of the strided segment for n source rows.
  uint64_t Rows(uint64_t n) const { return n <= first ? n : first + DivideUp(Used(n) - first, stride); }
  // The longest segment of the source that becomes at most `rows` rows.
  uint64_t Longest(uint64_t rows) const { return rows <= first ? rows : first + (rows - first) * stride + last; }
  // The first source row of row i; the group ends where that of row i + 1 begins.
  uint64_t Source(uint64_t i) const { return i <= first ? i : first + (i - first) * stride; }
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BLOB_STRIDES_H_
