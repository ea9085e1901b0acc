// Features of attention beyond dot products of f32 rows with a softmax over all keys: each is a line "attention NAME"
// of a profile, since a build may leave out its code.
#ifndef FOVEA_RUNTIME_KERNELS_ATTENTION_FEATURES_H_
#define FOVEA_RUNTIME_KERNELS_ATTENTION_FEATURES_H_

#include <stdint.h>

#include "runtime/base/profile.h"

namespace fovea {

enum class AttentionFeature : uint32_t {
#define FOVEA_ATTENTION_FEATURE(name, Name) k##Name,
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE
};

// kAttends<Name>: whether this build includes the feature.
#define FOVEA_ATTENTION_FEATURE(name, Name) inline constexpr bool kAttends##Name = Includes("attention", #name);
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ATTENTION_FEATURES_H_
