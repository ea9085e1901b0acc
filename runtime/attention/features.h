// Which features of runtime/kernels/attention_features.h an attention uses; a profile must list them.
#ifndef FOVEA_RUNTIME_ATTENTION_FEATURES_H_
#define FOVEA_RUNTIME_ATTENTION_FEATURES_H_

#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// A bit for each AttentionFeature.
using AttentionFeatures = uint32_t;
constexpr AttentionFeatures Bit(AttentionFeature feature) { return 1u << static_cast<uint32_t>(feature); }

// Features that follow from the spec. Biases of keys and of pairs, and keys in place, are features of a call.
AttentionFeatures FeaturesOf(const AttentionSpec&);

// Fails if this build lacks one of them.
Status CheckFeatures(AttentionFeatures, Reporter&);

// True if this build supports only the plainest attention.
inline constexpr bool kAttendsPlainly =
#define FOVEA_ATTENTION_FEATURE(name, Name) \
  (!kAttends##Name || AttentionFeature::k##Name == AttentionFeature::kInPlace)&&
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE
    true;

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_FEATURES_H_
