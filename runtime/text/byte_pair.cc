// Byte-pair encoding. A tree of winners over the pairs of neighbours finds the next merge, so long words cost n log n.
#include <algorithm>

#include "runtime/text/models.h"

namespace fovea::text {
namespace {

class Pairs {
 public:
  Pairs(const Tokenizer& tokenizer, const View& word, const Scratch& scratch)
      : t_(tokenizer),
        size_(word.size),
        id_(scratch.pairs),
        next_(id_ + size_),
        previous_(next_ + size_),
        rank_(previous_ + size_),
        winner_(rank_ + size_) {
    for (uint32_t i = 0; i < size_; ++i) {
      id_[i] = t_.byte_ids[word.bytes[i]];
      next_[i] = i + 1;
      previous_[i] = i - 1;
    }
  }

  // Joins until no pair has a merge. Then Id(i), Next(i) from 0 on are the pieces.
  void Run() {
    for (uint32_t i = 0; i < size_; ++i) {
      rank_[i] = RankAt(i);
      winner_[size_ + i] = i;
    }
    for (uint32_t i = size_ - 1; i > 0; --i) winner_[i] = Better(winner_[2 * i], winner_[2 * i + 1]);
    if (size_ < 2) return;
    while (true) {
      const uint32_t left = winner_[1];
      if (rank_[left] == kNoId) return;
      const uint32_t right = next_[left];
      id_[left] = Find(id_[left], id_[right])->merged;
      next_[left] = next_[right];
      if (next_[left] < size_) previous_[next_[left]] = left;
      Update(right, kNoId);
      Update(left, RankAt(left));
      if (left != 0) Update(previous_[left], RankAt(previous_[left]));
    }
  }
  uint32_t Id(uint32_t i) const { return id_[i]; }
  uint32_t Next(uint32_t i) const { return next_[i]; }

 private:
  const Merge* Find(uint32_t left, uint32_t right) const {
    const uint32_t mask = t_.merges.size - 1;
    uint32_t slot = MergeHash(left, right);
    for (uint32_t i = 0; i < kMaxProbes && t_.merges.size != 0; ++i, ++slot) {
      const Merge& merge = t_.merges[slot & mask];
      if (merge.left == kNoId) return nullptr;
      if (merge.left == left && merge.right == right) return merge.merged < t_.size() ? &merge : nullptr;
    }
    return nullptr;
  }
  // Rank of the pair that starts at piece i; kNoId: none.
  uint32_t RankAt(uint32_t i) const {
    if (next_[i] >= size_ || id_[i] == kNoId) return kNoId;
    const Merge* const merge = Find(id_[i], id_[next_[i]]);
    return merge == nullptr ? kNoId : merge->rank;
  }
  // The lower rank, then the earlier place.
  uint32_t Better(uint32_t a, uint32_t b) const {
    return rank_[a] != rank_[b] ? (rank_[a] < rank_[b] ? a : b) : std::min(a, b);
  }
  void Update(uint32_t i, uint32_t rank) {
    rank_[i] = rank;
    for (uint32_t node = (size_ + i) / 2; node > 0; node /= 2) {
      winner_[node] = Better(winner_[2 * node], winner_[2 * node + 1]);
    }
  }

  const Tokenizer& t_;
  const uint32_t size_;
  uint32_t *const id_, *const next_, *const previous_, *const rank_, *const winner_;  // winner_: 2 size_ entries
};

}  // namespace

void BytePair(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink) {
  uint32_t whole = 0;
  if ((tokenizer.header.model_flags & kIgnoreMerges) != 0 && word.size <= tokenizer.header.max_piece_bytes &&
      tokenizer.vocabulary.Longest(0, word.bytes, word.size, &whole) == word.size && whole < tokenizer.size()) {
    return sink->Add(whole, word, 0, word.size);
  }
  Pairs pairs(tokenizer, word, scratch);
  pairs.Run();
  for (uint32_t at = 0; at < word.size; at = pairs.Next(at)) {
    const uint32_t id = pairs.Id(at) != kNoId ? pairs.Id(at) : tokenizer.header.unknown_id;
    if (id != kNoId) sink->Add(id, word, at, pairs.Next(at));
  }
}

}  // namespace fovea::text
