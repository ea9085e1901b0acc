// Unigram model: the best path through the lattice of pieces (Viterbi). Scores are kept only as far back as the longest
// piece reaches; for each byte the size of its last piece remains, from which the path is recovered.
#include <math.h>

#include <algorithm>

#include "runtime/text/models.h"

namespace fovea::text {
namespace {

// A piece ends at each position of the path; a piece that is not in the vocabulary is an unknown character.
constexpr uint16_t kUnknown = 0x8000;  // flag in `back`

class Lattice {
 public:
  Lattice(const Tokenizer& tokenizer, const View& word, const Scratch& scratch)
      : t_(tokenizer), word_(word), best_(scratch.best), back_(scratch.back), ring_(t_.header.max_piece_bytes + 5) {}

  void Run(Sink* sink) {
    Forward();
    // Reverses the chain of sizes, so that `back_[begin]` holds the size of the piece that starts there.
    uint16_t size = back_[word_.size];
    for (uint32_t end = word_.size; end > 0;) {
      const uint32_t begin = end - std::min<uint32_t>(std::max(size & ~kUnknown, 1), end);
      const uint16_t before = back_[begin];
      back_[begin] = size;
      size = before;
      end = begin;
    }
    uint32_t unknown_begin = 0;  // begin of a run of unknown characters, which is one token
    bool in_unknown = false;
    for (uint32_t at = 0; at < word_.size;) {
      const uint32_t end = std::min(at + std::max<uint32_t>(back_[at] & ~kUnknown, 1), word_.size);
      uint32_t id = t_.header.unknown_id;
      if ((back_[at] & kUnknown) == 0) id = Exact(at, end);
      if (id == t_.header.unknown_id) {
        if (!in_unknown) unknown_begin = at;
        in_unknown = true;
      } else {
        if (in_unknown) AddUnknown(unknown_begin, at, sink);
        in_unknown = false;
        const bool unknown = (t_.token_flags[id] & kTokenFoundUnknown) != 0;
        sink->Add(unknown ? t_.header.unknown_id : id, word_, at, end);
      }
      at = end;
    }
    if (in_unknown) AddUnknown(unknown_begin, word_.size, sink);
  }

 private:
  // Adds a run of unknown characters: as bytes, if all of them are tokens, else as the unknown token.
  void AddUnknown(uint32_t begin, uint32_t end, Sink* sink) const {
    bool bytes = t_.byte_ids.size != 0;
    for (uint32_t i = begin; i < end && bytes; ++i) bytes = t_.byte_ids[word_.bytes[i]] != kNoId;
    if (!bytes) return sink->Add(t_.header.unknown_id, word_, begin, end);
    for (uint32_t i = begin; i < end; ++i) sink->Add(t_.byte_ids[word_.bytes[i]], word_, i, i + 1);
  }

  double& Best(uint32_t at) { return best_[at % ring_]; }

  // Until a path reaches it, each byte up to `end` is the end of an unknown character without a path.
  void Reach(uint32_t end) {
    const bool later = (t_.header.model_flags & kPreferLater) != 0;
    while (reached_ < end) {
      ++reached_;
      back_[reached_] = static_cast<uint16_t>((reached_ - PreviousChar(word_.bytes, reached_)) | kUnknown);
      Best(reached_) = later ? 0 : -INFINITY;
    }
  }

  void Offer(uint32_t begin, uint32_t end, double score, uint16_t flag) {
    Reach(end);
    const bool narrow = (t_.header.model_flags & kAccumulateF32) != 0;
    double sum = Best(begin) + score;
    if (narrow && flag != 0) sum = static_cast<float>(sum);
    const double best = Best(end);
    const bool better = (t_.header.model_flags & kPreferLater) != 0 ? best == 0 || sum >= best : sum > best;
    if (!better) return;
    Best(end) = narrow ? static_cast<float>(sum) : sum;
    back_[end] = static_cast<uint16_t>((end - begin) | flag);
  }

  void Forward() {
    const bool only_alone = (t_.header.model_flags & kUnknownOnlyAlone) != 0;
    Best(0) = 0;
    back_[0] = 0;
    for (uint32_t at = 0; at < word_.size;) {
      const uint32_t one = word_.At(at).size;
      const uint32_t longest = std::min(word_.size - at, t_.header.max_piece_bytes);
      bool any = false, single = false;
      uint32_t node = 0, id = 0;
      for (uint32_t size = 1; size <= longest && t_.vocabulary.Step(word_.bytes[at + size - 1], &node); ++size) {
        if (!t_.vocabulary.Value(node, &id) || id >= t_.size()) continue;
        Offer(at, at + size, t_.Score(id), 0);
        any = true;
        single = single || size == one;
      }
      if (only_alone ? !any : !single) Offer(at, at + one, t_.header.unknown_score, kUnknown);
      at += one;
      Reach(at);
    }
  }

  uint32_t Exact(uint32_t begin, uint32_t end) const {
    uint32_t node = 0, id = 0;
    for (uint32_t i = begin; i < end; ++i) {
      if (!t_.vocabulary.Step(word_.bytes[i], &node)) return t_.header.unknown_id;
    }
    return t_.vocabulary.Value(node, &id) && id < t_.size() ? id : t_.header.unknown_id;
  }

  const Tokenizer& t_;
  const View& word_;
  double* const best_;
  uint16_t* const back_;
  const uint32_t ring_;
  uint32_t reached_ = 0;  // bytes up to here have an entry in `back_`
};

}  // namespace

void Unigram(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink) {
  Lattice(tokenizer, word, scratch).Run(sink);
}

}  // namespace fovea::text
