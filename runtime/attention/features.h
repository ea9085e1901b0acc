// Which of the features of runtime/kernels/attention_features.h an attention uses: what a profile must list for it.
#ifndef FOVEA_RUNTIME_ATTENTION_FEATURES_H_
#define FOVEA_RUNTIME_ATTENTION_FEATURES_H_

#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// A bit for each AttentionFeature.
using AttentionFeatures = uint32_t;
constexpr AttentionFeatures Bit(AttentionFeature feature) { return 1u << static_cast<uint32_t>(feature); }

// Those that the spec shows. Biases of keys and of pairs and keys in place belong to a call.
AttentionFeatures FeaturesOf(const AttentionSpec&);

// Whether this build has them all.
Status CheckFeatures(AttentionFeatures, Reporter&);

// Every build of which this is true knows the plainest attention only.
inline constexpr bool kAttendsPlainly =
#define FOVEA_ATTENTION_FEATURE(name, Name) \
  (!kAttends##Name || AttentionFeature::k##Name == AttentionFeature::kInPlace)&&
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE
    true;

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_FEATURES_H_
