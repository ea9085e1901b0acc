// Byte-pair encoding (BPE). A tournament tree over adjacent pairs finds the next merge, so long words cost n log n.
#include <algorithm>

#include "runtime/text/models.h"

namespace fovea::text {
namespace {

// Continues from `node` in the vocabulary. A byte 0, which no trie can hold, is 0xff in its keys, which no UTF-8 has.
bool Walk(const Trie& trie, Bytes bytes, uint32_t* node) {
  for (uint32_t i = 0; i < bytes.size; ++i) {
    if (!trie.Step(bytes.data[i] == 0 ? 0xff : bytes.data[i], node)) return false;
  }
  return true;
}

// The pieces of a word, each identified by the offset of its first byte.
class Pairs {
 public:
  Pairs(const Tokenizer& tokenizer, const View& word, const Scratch& scratch)
      : t_(tokenizer),
        size_(word.size),
        id_(scratch.pairs),
        node_(id_ + size_),
        next_(node_ + size_),
        previous_(next_ + size_),
        rank_(previous_ + size_),
        winner_(rank_ + size_) {
    const bool characters = (t_.header.model_flags & kCharacters) != 0;
    for (uint32_t at = 0; at < size_;) {
      const uint32_t end = at + (characters ? word.At(at).size : 1);
      AddFirst(word, at, end);
      at = end;
    }
    if (last_ != kNoId) next_[last_] = size_;
  }

  // Merges until no pair has a merge. Then Id(i) and Next(i) from First() on are the pieces.
  void Run() {
    if (last_ == first_) return;
    for (uint32_t i = 0; i < size_; ++i) {
      rank_[i] = kNoId;
      winner_[size_ + i] = i;
    }
    for (uint32_t i = first_; i < size_; i = next_[i]) rank_[i] = RankAt(i);
    for (uint32_t i = size_ - 1; i > 0; --i) winner_[i] = Better(winner_[2 * i], winner_[2 * i + 1]);
    for (uint32_t left = winner_[1]; rank_[left] != kNoId; left = winner_[1]) {
      const uint32_t right = next_[left];
      Found(left, &id_[left], &node_[left]);
      next_[left] = next_[right];
      if (next_[left] < size_) previous_[next_[left]] = left;
      Update(right, kNoId);
      Update(left, RankAt(left));
      if (left != first_) Update(previous_[left], RankAt(previous_[left]));
    }
  }
  uint32_t First() const { return first_; }
  uint32_t Id(uint32_t i) const { return id_[i]; }
  uint32_t Next(uint32_t i) const { return next_[i]; }

 private:
  // `node`: its node in the vocabulary; 0, the root: it takes no part in merges.
  void Add(uint32_t at, uint32_t id, uint32_t node) {
    id_[at] = id;
    node_[at] = node;
    previous_[at] = last_;
    if (last_ == kNoId) {
      first_ = at;
    } else {
      next_[last_] = at;
    }
    last_ = at;
    unknown_ = false;
  }

  void AddUnknown(uint32_t at) {
    const bool fuse = unknown_ && (t_.header.model_flags & kFuseUnknown) != 0;
    if (t_.header.unknown_id != kNoId && !fuse) Add(at, t_.header.unknown_id, 0);
    unknown_ = true;
  }

  // A byte or character before any merge.
  void AddFirst(const View& word, uint32_t at, uint32_t end) {
    const Bytes suffix = end == size_ ? Bytes{t_.suffix.data, t_.suffix.size} : Bytes();
    uint32_t node = 0, id = 0;
    if (Walk(t_.vocabulary, at == 0 ? Bytes() : t_.prefix, &node) &&
        Walk(t_.vocabulary, {word.bytes + at, end - at}, &node) && Walk(t_.vocabulary, suffix, &node) &&
        t_.vocabulary.Value(node, &id) && id < t_.size()) {
      return Add(at, id, node);
    }
    for (uint32_t i = at; i < end; ++i) {
      if (t_.byte_ids.size == 0 || t_.byte_ids[word.bytes[i]] == kNoId) return AddUnknown(at);
    }
    for (uint32_t i = at; i < end; ++i) {
      const uint32_t byte = t_.byte_ids[word.bytes[i]];
      node = 0;
      Add(i, byte, Walk(t_.vocabulary, t_.Piece(byte), &node) ? node : 0);
    }
  }

  // The merge of the piece at i with the next piece. Returns its rank, kNoId if there is none.
  uint32_t Found(uint32_t i, uint32_t* id, uint32_t* node) const {
    const uint32_t right = next_[i];
    if (right >= size_ || node_[i] == 0 || node_[right] == 0) return kNoId;
    Bytes rest = t_.Piece(id_[right]);
    const uint32_t skipped = std::min(t_.prefix.size, rest.size);
    rest = {rest.data + skipped, rest.size - skipped};
    uint32_t at = node_[i], made = 0;
    if (!Walk(t_.vocabulary, rest, &at) || !t_.vocabulary.Value(at, &made) || made >= t_.size()) return kNoId;
    const Merge* const end = t_.merges.data + t_.merge_offsets[made + 1];
    const Merge* merge = t_.merges.data + t_.merge_offsets[made];
    if (merge == end) return kNoId;
    const uint32_t left = id_[i];
    if (merge->left != kNoId) {
      merge = std::lower_bound(merge, end, left, [](const Merge& m, uint32_t value) { return m.left < value; });
      if (merge == end || merge->left != left) return kNoId;
    }
    *id = made;
    *node = at;
    return merge->rank;
  }
  uint32_t RankAt(uint32_t i) const {
    uint32_t id = 0, node = 0;
    return Found(i, &id, &node);
  }
  bool Before(uint32_t a, uint32_t b) const {
    if (rank_[a] != rank_[b]) return rank_[a] < rank_[b];
    if (rank_[a] != kNoId && id_[a] != id_[b] && (t_.header.model_flags & kTiesByLeft) != 0) return id_[a] < id_[b];
    return a < b;
  }
  uint32_t Better(uint32_t a, uint32_t b) const { return Before(a, b) ? a : b; }
  void Update(uint32_t i, uint32_t rank) {
    rank_[i] = rank;
    for (uint32_t node = (size_ + i) / 2; node > 0; node /= 2) {
      winner_[node] = Better(winner_[2 * node], winner_[2 * node + 1]);
    }
  }

  const Tokenizer& t_;
  const uint32_t size_;
  uint32_t *const id_, *const node_, *const next_, *const previous_, *const rank_;
  uint32_t* const winner_;  // tournament tree, 2 size_ entries
  uint32_t first_ = kNoId, last_ = kNoId;
  bool unknown_ = false;  // the last character was unknown
};

}  // namespace

void BytePair(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink) {
  // Shortcut: most words are a single piece.
  uint32_t node = 0, whole = 0;
  if (word.size <= tokenizer.header.max_piece_bytes && Walk(tokenizer.vocabulary, {word.bytes, word.size}, &node) &&
      tokenizer.vocabulary.Value(node, &whole) && whole < tokenizer.size() &&
      ((tokenizer.header.model_flags & kIgnoreMerges) != 0 || (tokenizer.token_flags[whole] & kTokenWhole) != 0)) {
    return sink->Add(whole, word, 0, word.size);
  }
  Pairs pairs(tokenizer, word, scratch);
  pairs.Run();
  for (uint32_t at = pairs.First(); at < word.size; at = pairs.Next(at)) {
    sink->Add(pairs.Id(at), word, at, pairs.Next(at));
  }
}

}  // namespace fovea::text
