#include "runtime/attention/features.h"

namespace fovea {

AttentionFeatures FeaturesOf(const AttentionSpec& spec) {
  const Pattern& pattern = spec.pattern;
  const ScorePart& score = spec.score;
  const struct {
    AttentionFeature feature;
    bool used;
  } all[] = {
      {AttentionFeature::kCentered, pattern.centers != Centers::kNone},
      {AttentionFeature::kClustered, pattern.rounds != 0 || pattern.chunk != 0},
      {AttentionFeature::kWindow, pattern.left != kUnbounded || pattern.right != kUnbounded || pattern.dilation > 1 ||
                                      pattern.block > 1 || pattern.full_up_to != 0 || pattern.head_windows != nullptr},
      {AttentionFeature::kGlobalRows, pattern.global_first != 0 || pattern.global_last != 0},
      {AttentionFeature::kGlobalKeys, pattern.global_keys},
      {AttentionFeature::kLayout, pattern.layout != nullptr},
      {AttentionFeature::kTopK, pattern.top_k != 0},
      {AttentionFeature::kSummaries, spec.summaries.group != 0},
      {AttentionFeature::kScoreDistance, score.kind == Score::kDistance},
      {AttentionFeature::kScoreAdditive, score.kind == Score::kAdditive || score.additive != nullptr},
      {AttentionFeature::kProducts, score.products != Products::kF32},
      {AttentionFeature::kCap, score.cap != 0.0f},
      {AttentionFeature::kDistanceBias, score.distance_bias != nullptr},
      {AttentionFeature::kSlopes, score.slopes != nullptr},
      {AttentionFeature::kRelative, score.relative.buckets != nullptr || score.relative.keys != nullptr ||
                                        score.relative.queries != nullptr || score.relative.bucket_count != 0},
      {AttentionFeature::kSelfScore, score.has_self_score},
      {AttentionFeature::kCoordinates,
       spec.positions.HasCoordinates() || spec.positions.query_stride > 1 || spec.positions.apart != 0},
      {AttentionFeature::kActivation, spec.weighting.kind != Activation::kNone},
      {AttentionFeature::kGaussian, spec.weighting.gaussian},
  };
  AttentionFeatures features = 0;
  for (const auto& [feature, used] : all) features |= used ? Bit(feature) : 0;
  return features;
}

Status CheckFeatures(AttentionFeatures features, Reporter& reporter) {
#define FOVEA_ATTENTION_FEATURE(name, Name)                                             \
  if (!kAttends##Name && (features & Bit(AttentionFeature::k##Name)) != 0) {            \
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks attention " #name); \
  }
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE
  return kOk;
}

}  // namespace fovea
