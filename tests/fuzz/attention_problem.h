// A call of fovea/attention.h drawn from the bytes of an input, one choice after the other: options and arrays, each
// exactly as long as the options require.
#ifndef FOVEA_TESTS_FUZZ_ATTENTION_PROBLEM_H_
#define FOVEA_TESTS_FUZZ_ATTENTION_PROBLEM_H_

#include <string.h>

#include <algorithm>
#include <deque>

#include "fovea/attention.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/transcript.h"
#include "tools/base/sized.h"

namespace fovea::fuzz {

// Choices out of the input's bytes; zeros after its end.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint32_t Byte() { return at_ < size_ ? data_[at_++] : 0; }
  uint32_t Below(uint32_t limit) { return limit == 0 ? 0 : Byte() % limit; }
  bool OneIn(uint32_t n) { return Byte() % n == n - 1; }  // never after the end
  // A number below the limit; rarely any number.
  uint32_t About(uint32_t limit) { return OneIn(64) ? Random(Byte()).Number() : Below(limit); }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

// Conditions that must not change the outputs.
struct AttentionConditions {
  Filling filling = Filling::kZeros;
  uint32_t workers = 1;
  uint32_t tile_rows = 0;
  bool keeps = true;  // what the problem wants to keep
};

struct AttentionOutcome {
  Transcript transcript;  // all calls
  Transcript outputs;     // outputs only, if there are any
  bool ran = false;
};

class AttentionProblem {
 public:
  explicit AttentionProblem(Choices& choices);
  AttentionProblem(const AttentionProblem&) = delete;

  bool wants_kept() const { return wants_kept_; }
  AttentionOutcome Run(const AttentionConditions& conditions);

 private:
  // Rows of one side, and how they fall into segments.
  struct Side {
    uint32_t* offsets = nullptr;  // NULL: one segment
    uint32_t rows = 0, longest = 0;
  };
  // Vectors of `bytes` bytes for rows, heads and segments.
  struct Strides {
    size_t row = 0, head = 0, segment = 0;  // as given, 0 where the usual is meant
    uint64_t bytes = 0;                     // from the first to the last
  };

  // Numbers of rows: large enough that some arrays exceed memory, small enough that products stay below 2^64.
  static uint64_t Factor(uint32_t number) { return std::min(number, 1u << 20); }
  uint64_t heads() const { return Factor(std::max(1u, o_.heads)); }
  uint64_t d_k() const { return Factor(o_.d_k); }
  uint64_t d_v() const { return Factor(o_.d_v == 0 ? o_.d_k : o_.d_v); }
  uint32_t segments() const { return std::max(1u, o_.segment_count); }

  // An array in separate pages; NULL instead of one that would be too long, which an honest caller could not have.
  template <typename T, typename Make>
  T* Array(uint64_t count, const Make& make) {
    if (count > kMaxEntries) return nullptr;
    arrays_.emplace_back(count * sizeof(T), Filling::kZeros, sizeof(T));
    T* const entries = arrays_.back().template as<T>();
    for (uint64_t i = 0; i < count; ++i) entries[i] = static_cast<T>(make(i));
    arrays_.back().Seal();
    return entries;
  }
  float* Floats(uint64_t count);
  // Numbers up to the limit; in rare arrays any numbers.
  int32_t* Ids(uint64_t count, uint32_t limit);

  // The size of a struct in the caller's version: nearly always the current one.
  template <typename T>
  size_t VersionOf() {
    if (!c_.OneIn(32)) return sizeof(T);
    switch (c_.Below(4)) {
      case 0:
        return c_.Below(9);
      case 1:
        return sizeof(T) + 8 * (1 + c_.Below(8));
      default:
        return c_.Below(sizeof(T) / 8 + 1) * size_t{8};
    }
  }
  // The struct with exactly the size of the caller's version.
  template <typename T>
  const T* Placed(const T& part, size_t version, Guarded* place) const {
    *place = Guarded(std::max(sizeof(size_t), version), Filling::kZeros, 8);
    memcpy(place->data(), &part, std::min<size_t>(sizeof(T), place->size()));
    memcpy(place->data(), &version, sizeof(version));
    if (version > sizeof(T) && version / 8 % 2 == 0) place->data()[version - 1] = 1;  // an option of a later version
    place->Seal();
    return place->as<T>();
  }
  // The struct in place, or NULL: the usual.
  template <typename T>
  const T* Part(const T& part) {
    if (c_.OneIn(12)) return nullptr;
    arrays_.emplace_back();
    return Placed(part, VersionOf<T>(), &arrays_.back());
  }

  void Segments();
  Side Offsets(uint32_t most);
  void Pattern();
  void Window();
  void Global();
  void Layout();
  void Clusters();
  void Centers();
  void Score();
  void KeyBias();
  void PairBias();
  void Relative();
  void Weighting();
  void Positions();
  void Kept();
  void Summaries(uint64_t kv_heads, uint32_t type);
  Strides StridesOf(uint32_t rows, uint64_t of, uint64_t vector, size_t element, bool by_segment);
  fovea_attention_rows View(uint32_t rows, uint64_t of, uint64_t d, uint32_t type, bool by_segment);
  void Views();

  uint32_t Queries() const { return o_.pairing == FOVEA_PAIRING_ROWS ? o_.segment_count : queries_.rows; }
  void ReadKept(const fovea_attention_kept& kept, Transcript& transcript) const;

  static constexpr uint64_t kMaxEntries = 1 << 18;  // per array

  Choices& c_;
  Random random_;
  std::deque<Guarded> arrays_;
  fovea_attention_options o_ = tools::Sized<fovea_attention_options>();
  size_t options_version_ = sizeof(o_);
  fovea_attention_pattern p_ = tools::Sized<fovea_attention_pattern>();
  fovea_attention_score s_ = tools::Sized<fovea_attention_score>();
  fovea_attention_kept kept_ = tools::Sized<fovea_attention_kept>();
  Side queries_, keys_;
  fovea_attention_rows q_ = {}, k_ = {}, v_ = {}, summary_k_ = {}, summary_v_ = {};
  fovea_attention_out out_ = {};
  uint64_t out_bytes_ = 0;
  bool wants_kept_ = false, sparse_ = false;
  uint32_t any_queries_ = 0, any_keys_ = 0;  // segments that are only counted
};

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_ATTENTION_PROBLEM_H_
