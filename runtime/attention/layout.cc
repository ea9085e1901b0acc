// Places the arrays of scratch one after the other.
#include "runtime/attention/layout.h"

#include <algorithm>

#include "runtime/attention/engine.h"
#include "runtime/base/arena.h"

namespace fovea {
namespace {

// Rows that share one packed block. More rows spread the cost of packing; fewer keep their state in cache.
constexpr uint32_t kChunkRows = 256;
// The same if each row has a table of buckets (relative scores).
constexpr uint32_t kRelativeRows = 64;
// Total entries of all lists of top keys.
constexpr uint32_t kTopEntries = 1u << 16;

// Keys per block: long blocks spread the cost of a softmax step, packed keys and values should stay in cache (64 KiB).
uint32_t BlockKeys(const AttentionSpec& spec) {
  if (spec.score.relative.bucket_count > 0) return kAttentionKeyStep;
  const uint64_t keys = 16384 / (uint64_t{spec.d_k} + spec.d_v) / kAttentionKeyStep * kAttentionKeyStep;
  return static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(keys, kAttentionKeyStep), kAttentionMaxBlock));
}

uint32_t ChunkCapacity(const AttentionSpec& spec, uint32_t tile_rows) {
  const uint64_t heads = SplitsHeads(spec) ? 1 : spec.heads / spec.kv_heads;
  uint64_t most = spec.score.relative.bucket_count > 0 ? kRelativeRows : kChunkRows;
  if (kAttendsTopK && spec.pattern.top_k > 0) {
    most = std::min<uint64_t>(most, std::max<uint64_t>(kTopEntries / (2 * uint64_t{spec.pattern.top_k}), 1));
  }
  if (spec.pattern.rounds == 1) most = std::min<uint64_t>(most, spec.pattern.chunk);
  if (spec.pattern.rounds > 1) most = UINT32_MAX;  // every row of the tile, whose state is kept between rounds
  return static_cast<uint32_t>(std::min<uint64_t>(most, heads * tile_rows));
}

// Allocates the arrays from an arena that only counts bytes.
class LayOut {
 public:
  LayOut(const AttentionSpec& spec, AttentionLayout* layout) : spec_(spec), layout_(*layout) {}

  void Run() {
    const uint64_t padded_v = RoundUp(spec_.d_v, kAttentionLanes);
    const uint32_t block = layout_.block;
    // Words of int8 are packed in groups of four on Arm.
    const uint32_t least = spec_.score.products == Products::kI8 ? 4 : 1;
    Floats(ScratchPart::kPackedKeys, uint64_t{block} * std::max(spec_.d_k, least));
    Floats(ScratchPart::kPackedValues, block * padded_v);
    Floats(ScratchPart::kWidened, uint64_t{kAttentionLanes} * std::max(spec_.d_k, spec_.d_v));
    Floats(ScratchPart::kScores, kAttentionScoreFloats);
    Floats(ScratchPart::kKeyFactors, block);
    if (kRowsI8) Floats(ScratchPart::kValueFactors, block);
    if (kAttendsProducts && spec_.score.products != Products::kF32) {
      Floats(ScratchPart::kQueryWords, CheckedSize(layout_.capacity) * CheckedSize(MostWords(spec_.d_k)));
      const bool transposed = spec_.score.products == Products::kI16;
      Floats(ScratchPart::kKeyWords, uint64_t{kAttentionLanes} * (transposed ? spec_.d_k : MostWords(spec_.d_k)));
      if (transposed) Floats(ScratchPart::kLevels, 2 * uint64_t{block});
    }
    Rows(layout_.capacity, padded_v, ScratchPart::kSums, ScratchPart::kSumOfValues, ScratchPart::kRows);
    const uint64_t buckets = spec_.score.relative.bucket_count;
    if (kAttendsRelative && buckets > 0) {
      const CheckedSize products = CheckedSize(buckets) * spec_.positions.axes;
      Floats(ScratchPart::kRelative, products * layout_.capacity);
      Floats(ScratchPart::kKeyRelative, products * block);
      Floats(ScratchPart::kCopied, uint64_t{std::max(layout_.capacity, block)} * spec_.d_k);
    }
    if (kAttendsTopK && spec_.pattern.top_k > 0) {
      const CheckedSize entries = CheckedSize(layout_.capacity) * layout_.top_entries;
      Take(ScratchPart::kTopKeys, uint64_t{layout_.capacity} * sizeof(TopKeys));
      Floats(ScratchPart::kTopScores, entries);
      Floats(ScratchPart::kTopPositions, entries);
    }
    if (kAttendsClustered && spec_.pattern.rounds > 0) {
      if (spec_.pattern.rounds > 1) {
        Rows(layout_.group, padded_v, ScratchPart::kPartSums, ScratchPart::kPartSumOfValues, ScratchPart::kPartRows);
      }
      Take(ScratchPart::kPositions, uint64_t{layout_.group} * sizeof(uint32_t));
      Take(ScratchPart::kIndex, uint64_t{block} * sizeof(uint32_t));
    }
    if (kAttendsCoordinates && spec_.positions.HasCoordinates()) {
      Take(ScratchPart::kCoordinates, uint64_t{block} * spec_.positions.axes * sizeof(int32_t));
      Take(ScratchPart::kRowCoordinates, CheckedSize(layout_.capacity) * spec_.positions.axes * sizeof(int32_t));
    }
    layout_.bytes = arena_.needed();
  }

 private:
  void Take(ScratchPart part, CheckedSize bytes) {
    layout_.at[static_cast<uint32_t>(part)] = static_cast<size_t>(arena_.needed());
    arena_.TakeBytes(bytes);
  }
  void Floats(ScratchPart part, CheckedSize count) { Take(part, count * CheckedSize(sizeof(float))); }
  void Rows(uint32_t rows, uint64_t padded_v, ScratchPart sums, ScratchPart sum_of_values, ScratchPart part) {
    Floats(sums, uint64_t{rows} * kAttentionLanes);
    Floats(sum_of_values, uint64_t{rows} * padded_v);
    Take(part, uint64_t{rows} * sizeof(AttentionRow));
  }

  const AttentionSpec& spec_;
  AttentionLayout& layout_;
  Arena arena_;
};

}  // namespace

// Different heads in one chunk must see the same keys.
bool SplitsHeads(const AttentionSpec& spec) {
  return spec.pattern.DiffersByHead() || spec.pattern.rounds > 0 || spec.score.relative.bucket_count > 0;
}

AttentionLayout LayOutAttention(const AttentionSpec& spec, uint32_t tile_rows) {
  AttentionLayout layout = {};
  layout.capacity = ChunkCapacity(spec, tile_rows);
  layout.block = BlockKeys(spec);
  layout.group = std::min({layout.capacity, kChunkRows, spec.pattern.chunk});
  layout.top_entries = 2 * (spec.pattern.top_k + kAttentionLanes);
  LayOut(spec, &layout).Run();
  return layout;
}

uint64_t AttentionScratchBytes(const AttentionSpec& spec, uint32_t tile_rows) {
  return LayOutAttention(spec, tile_rows).bytes;
}

}  // namespace fovea
