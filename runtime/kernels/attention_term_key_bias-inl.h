// Term of a score: a bias of each key.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_KEY_BIAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_KEY_BIAS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_KEY_BIAS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_TERM_KEY_BIAS_INL_H_
#endif

#include "runtime/kernels/attention_distances-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

HWY_INLINE bool HasKeyBias(const AttentionTile& tile) {
  return kAttendsKeyBias && tile.terms.key_bias.values != nullptr;
}

// Biases of entries [i, i + kLanes); any for entries that the row does not see.
HWY_INLINE V KeyBias(const AttentionTile& tile, const AttentionRow& row, size_t i) {
  const D d;
  const TileKeyBias& bias = tile.terms.key_bias;
  if (bias.stride == 1 && IsContiguous(tile) && i >= row.begin && i + kLanes <= row.end) {
    return hn::LoadU(d, bias.values + tile.first + i);
  }
  HWY_ALIGN int32_t at[kLanes];
  HWY_ALIGN float lanes[kLanes];
  hn::Store(Positions(tile, row, i), hn::RebindToSigned<D>(), at);
  for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = bias.values[static_cast<size_t>(at[lane]) * bias.stride];
  return hn::Load(d, lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
