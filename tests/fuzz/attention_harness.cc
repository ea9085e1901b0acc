// fovea/attention.h: a call drawn from the input's bytes, made again with other scratch, workers and tiles.
#include <string.h>

#include "tests/fuzz/attention_problem.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/harness.h"

namespace fovea::fuzz {

namespace {

constexpr uint64_t kMaxScratch = uint64_t{48} << 20;

void Backwards(void*, uint32_t count, fovea_task task, void* context) {
  while (count > 0) task(context, --count);
}

}  // namespace

AttentionOutcome AttentionProblem::Run(const AttentionConditions& conditions) {
  AttentionOutcome outcome;
  Transcript& transcript = outcome.transcript;
  if (out_bytes_ > kMaxEntries * 4) return outcome;
  fovea_attention_options given = o_;
  given.workers = conditions.workers;
  given.tile_rows = conditions.tile_rows;
  given.runner = &Backwards;
  const uint64_t lines = Queries() * heads();
  const uint64_t entries = lines * std::min<uint64_t>(kept_.stride, kMaxEntries + 1);
  const bool keeps = wants_kept_ && conditions.keeps && entries <= kMaxEntries && lines <= kMaxEntries;
  const Guarded values(keeps ? entries * 4 : 0, Filling::kOnes, 4);
  const Guarded keys(keeps && sparse_ ? entries * 4 : 0, Filling::kOnes, 4);
  const Guarded counts(keeps && sparse_ ? lines * 4 : 0, Filling::kOnes, 4);
  fovea_attention_kept kept = kept_;
  kept.values = values.as<float>();
  kept.keys = sparse_ ? keys.as<uint32_t>() : nullptr;
  kept.counts = sparse_ ? counts.as<uint32_t>() : nullptr;
  Guarded of_kept, of_options;
  if (keeps) given.kept = Placed(kept, sizeof(kept), &of_kept);
  const fovea_attention_options* const options = Placed(given, options_version_, &of_options);
  const Guarded outputs(out_bytes_, Filling::kOnes, sizeof(float));
  fovea_attention_out out = out_;
  out.data = outputs.as<float>();

  uint64_t pairs = 0, needed = 0;
  fovea_error error = {};
  const fovea_status counted = fovea_attention_pairs(options, queries_.rows, keys_.rows, &pairs, &error);
  transcript.Status("pairs", counted, error);
  if (counted == FOVEA_OK) transcript.Number("pairs", pairs);
  // For a segment of any length. Time depends on the queries, not on the keys.
  const fovea_status counted_any = fovea_attention_pairs(options, any_queries_, any_keys_, &pairs, &error);
  transcript.Status("pairs of any keys", counted_any, error);
  if (counted_any == FOVEA_OK) transcript.Number("pairs of any keys", pairs);
  const fovea_status sized = fovea_attention_scratch_size(options, &needed, &error);
  transcript.Status("scratch", sized, error);
  if (needed > kMaxScratch) return outcome;
  const Guarded scratch(needed, conditions.filling);
  const fovea_status ran = fovea_attention_run(options, &q_, &k_, &v_, &out, scratch.data(), needed, &error);
  transcript.Status("run", ran, error);
  Check(sized == FOVEA_OK || ran != FOVEA_OK, "options without scratch have run");
  Check(ran != FOVEA_E_TOO_SMALL, "as much scratch as was asked for is too little");
  if (ran != FOVEA_OK) {
    const Guarded untouched(outputs.size(), Filling::kOnes, sizeof(float));
    Check(out_bytes_ == 0 || memcmp(untouched.data(), outputs.data(), outputs.size()) == 0,
          "a call that failed has written");
    return outcome;
  }
  outcome.ran = true;
  transcript.Floats("outputs", outputs.as<float>(), out_bytes_ / 4);
  outcome.outputs.Floats("outputs with and without what is kept", outputs.as<float>(), out_bytes_ / 4);
  if (needed != 0) {
    Check(fovea_attention_run(options, &q_, &k_, &v_, &out, scratch.data(), needed - 1, &error) == FOVEA_E_TOO_SMALL &&
              error.expected == needed,
          "a byte less than the scratch is not refused");
  }
  if (keeps) ReadKept(kept, transcript);
  return outcome;
}

void AttentionProblem::ReadKept(const fovea_attention_kept& kept, Transcript& transcript) const {
  const uint64_t lines = Queries() * heads();
  for (uint64_t line = 0; line < lines; ++line) {
    const float* const values = kept.values + line * kept.stride;
    if (!sparse_) {
      transcript.Floats("kept", values, kept.stride);
      continue;
    }
    const uint32_t count = kept.counts[line];
    if (count == UINT32_MAX) continue;  // a query after the last segment
    Check(count <= kept.stride, "more is kept than the stride");
    transcript.Floats("kept", values, count);
    transcript.Bytes("keys of what is kept", kept.keys + line * kept.stride, uint64_t{count} * 4);
  }
}

namespace {

void Use(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  AttentionConditions other;
  other.workers = 2 + choices.Below(5);
  other.tile_rows = 1 + choices.Below(9);
  other.filling = choices.OneIn(2) ? Filling::kOnes : Filling::kRandom;
  AttentionProblem problem(choices);
  const AttentionOutcome first = problem.Run({}), second = problem.Run(other);
  Transcript::Compare(first.transcript, second.transcript);
  if (!first.ran || !problem.wants_kept()) return;
  other.keeps = false;
  Transcript::Compare(first.outputs, problem.Run(other).outputs);
}

Input Mutate(const Input& input, Random& random) {
  Input mutant = input;
  for (uint32_t left = 1 + random.Below(4); left > 0; --left) {
    const size_t at = random.Below(mutant.size());
    switch (random.Below(6)) {
      case 0:
        mutant.insert(mutant.begin() + static_cast<ptrdiff_t>(at), static_cast<uint8_t>(random.Next()));
        break;
      case 1:
        if (mutant.size() > 16) mutant.erase(mutant.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 2:
        for (size_t i = at; i < mutant.size() && !random.OneIn(8); ++i) mutant[i] = static_cast<uint8_t>(random.Next());
        break;
      default:
        mutant[at] = static_cast<uint8_t>(random.Next());
    }
  }
  if (mutant.size() > 400) mutant.resize(400);
  return mutant;
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds(40, Input(160));
  Random random(1);
  for (Input& seed : seeds) {
    for (uint8_t& byte : seed) byte = static_cast<uint8_t>(random.Next());
  }
  return seeds;
}

}  // namespace

const Harness kAttentionHarness = {"attention", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
