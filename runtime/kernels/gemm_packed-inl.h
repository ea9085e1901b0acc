// Shared by kernels for packed weights. They multiply weights in the layout that XNNPACK packs for AVX2, and replace
// its kernels there; f32 and int8 give the same bits.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_PACKED_INL_H_
#endif

#include <string.h>

#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "runtime/kernels/gemm-inl.h"
#include "runtime/kernels/gemm.h"

// f32 and int8 weights have this layout on machines with AVX2 only, int4 weights also with AVX-512 without VNNI.
#undef FOVEA_GEMM_PACKED
#undef FOVEA_GEMM_PACKED_I4
#if defined(FOVEA_WITH_XNNPACK) && HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
#define FOVEA_GEMM_PACKED 1
#else
#define FOVEA_GEMM_PACKED 0
#endif
#if defined(FOVEA_WITH_XNNPACK) && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define FOVEA_GEMM_PACKED_I4 1
#else
#define FOVEA_GEMM_PACKED_I4 0
#endif

#if FOVEA_GEMM_PACKED_I4
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace packed {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::FixedTag<uint8_t, 32> kU8;
constexpr hn::FixedTag<int8_t, 32> kI8;
constexpr hn::FixedTag<int16_t, 16> kI16;
constexpr hn::FixedTag<int32_t, 8> kI32;
constexpr hn::FixedTag<float, 8> kFloats;
using U8 = hn::Vec<decltype(kU8)>;
using I8 = hn::Vec<decltype(kI8)>;
using I16 = hn::Vec<decltype(kI16)>;
using I32 = hn::Vec<decltype(kI32)>;
using Floats = hn::Vec<decltype(kFloats)>;

// Eight elements of x, repeated in every 64 bits.
HWY_INLINE I8 EightOf(const int8_t* x) {
  int64_t eight;
  memcpy(&eight, x, sizeof(eight));
  return hn::BitCast(kI8, hn::Set(hn::FixedTag<int64_t, 4>(), eight));
}

// Several passes process a block of weights, each for its rows. Each pass prefetches every passes-th line of the next
// block, which is thus loaded from memory while the current one is multiplied.
class Fetch {
 public:
  Fetch(size_t pass, size_t passes) : until_(pass), passes_(passes) {}
  HWY_INLINE bool Next() {
    const bool due = until_ == 0;
    until_ = (due ? passes_ : until_) - 1;
    return due;
  }
  // The number of lines to skip before the next one to prefetch.
  HWY_INLINE size_t Skip() {
    const size_t skipped = until_;
    until_ = passes_;
    return skipped;
  }

 private:
  size_t until_, passes_;
};

// Calls block(height, row, fetch) with heights that cover `rows`: the first as often as possible, then the rest.
template <size_t kMost, size_t... kLess, class Block>
HWY_INLINE void ForRows(size_t rows, const Block& block) {
  const size_t passes = (rows + kMost - 1) / kMost;
  size_t row = 0, pass = 0;
  const auto cover = [&](auto height) HWY_ATTR {
    for (; row + height() <= rows; row += height()) block(height, row, Fetch(pass++, passes));
  };
  cover(std::integral_constant<size_t, kMost>());
  (cover(std::integral_constant<size_t, kLess>()), ...);
}

}  // namespace packed
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
