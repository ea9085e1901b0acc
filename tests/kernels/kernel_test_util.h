// Shared by the kernel tests: every SIMD target in turn, odd sizes, random inputs of exact size, guarded outputs.
#ifndef FOVEA_TESTS_KERNELS_KERNEL_TEST_UTIL_H_
#define FOVEA_TESTS_KERNELS_KERNEL_TEST_UTIL_H_

#include <gtest/gtest.h>
#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "hwy/highway.h"
#include "hwy/targets.h"
#include "tests/support/random_floats.h"

namespace fovea {

using test::RandomFloats;

inline constexpr size_t kOddWidths[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 384, 385};

// Calls f() once per target this machine can run; kernels fetched inside are that target's.
template <class F>
void ForEachTarget(F f) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
}

// An output between guards; Intact() returns whether the guards are unchanged.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) : count_(count), all_(count + 2 * kGuard, T(77)) {}
  explicit Guarded(const std::vector<T>& values) : Guarded(values.size()) {
    for (size_t i = 0; i < count_; ++i) data()[i] = values[i];
  }
  T* data() { return all_.data() + kGuard; }
  T operator[](size_t i) const { return all_[kGuard + i]; }
  std::vector<T> values() const { return {all_.begin() + kGuard, all_.end() - kGuard}; }
  bool Intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (all_[i] != T(77) || all_[kGuard + count_ + i] != T(77)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  size_t count_;
  std::vector<T> all_;
};

}  // namespace fovea

#endif  // FOVEA_TESTS_KERNELS_KERNEL_TEST_UTIL_H_
