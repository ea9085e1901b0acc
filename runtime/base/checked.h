// Overflow-safe arithmetic for sizes that come from a blob or from a caller.
#ifndef FOVEA_RUNTIME_BASE_CHECKED_H_
#define FOVEA_RUNTIME_BASE_CHECKED_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// A size that remembers whether an operation of its computation overflowed.
class CheckedSize {
 public:
  constexpr CheckedSize(uint64_t value = 0) : value_(value) {}  // NOLINT: implicit on purpose

  CheckedSize& operator+=(CheckedSize other) {
    overflowed_ = overflowed_ | other.overflowed_ | __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  CheckedSize& operator*=(CheckedSize other) {
    overflowed_ = overflowed_ | other.overflowed_ | __builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }
  friend CheckedSize operator+(CheckedSize a, CheckedSize b) { return a += b; }
  friend CheckedSize operator*(CheckedSize a, CheckedSize b) { return a *= b; }

  // True when the value is exact and fits a size_t of this machine.
  bool ok() const { return !overflowed_ && value_ <= SIZE_MAX; }
  uint64_t value() const { return ok() ? value_ : UINT64_MAX; }

 private:
  uint64_t value_;
  bool overflowed_ = false;
};

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr uint64_t DivideUp(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

// True if [offset, offset + size) is inside [0, total).
constexpr bool InBounds(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_CHECKED_H_
