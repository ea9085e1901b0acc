// fovea/attention.h: options and arrays drawn from the bytes of the input, one choice after the other, run twice with
// other scratch, workers and tiles.
#include <string.h>

#include <algorithm>
#include <deque>

#include "fovea/attention.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/transcript.h"
#include "tools/base/sized.h"

namespace fovea::fuzz {
namespace {

constexpr uint64_t kMaxScratch = uint64_t{48} << 20;
constexpr uint64_t kMaxEntries = 1 << 18;  // of an array

// Choices out of the input's bytes; zeros after its end.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint32_t Byte() { return at_ < size_ ? data_[at_++] : 0; }
  uint32_t Below(uint32_t limit) { return limit == 0 ? 0 : Byte() % limit; }
  bool OneIn(uint32_t n) { return Byte() % n == n - 1; }  // never after the end
  // Below the limit; rarely any number at all.
  uint32_t About(uint32_t limit) { return OneIn(64) ? Random(Byte()).Number() : Below(limit); }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

// One call with all its arrays, each exactly as long as the options say.
class Problem {
 public:
  explicit Problem(Choices& choices) : c_(choices), random_(choices.Byte()) {
    o_.heads = c_.About(5);
    o_.kv_heads = c_.OneIn(3) ? 1 : c_.OneIn(2) ? c_.About(5) : 0;
    o_.d_k = c_.OneIn(64) ? c_.About(300) : 1 + c_.Below(40);
    o_.d_v = c_.OneIn(64) ? c_.About(300) : c_.Below(40);
    Pattern();
    Segments();
    Listed();
    Clusters();
    Score();
    Relative();
    Positions();
    Rows();
    Weights();
  }
  Problem(const Problem&) = delete;

  Transcript Run(Filling filling, uint32_t workers, uint32_t tile_rows);

 private:
  // Factors of lengths: so large that an array is too long where they are, so small that products stay below 2^64.
  static uint64_t Factor(uint32_t number) { return std::min(number, 1u << 20); }
  uint64_t heads() const { return Factor(std::max(1u, o_.heads)); }
  uint64_t d_k() const { return Factor(o_.d_k); }
  uint64_t d_v() const { return Factor(o_.d_v == 0 ? o_.d_k : o_.d_v); }

  // An array of its own pages; NULL instead of one that would be too long, as an honest caller could not have it.
  template <typename T, typename Make>
  T* Array(uint64_t count, const Make& make) {
    if (count > kMaxEntries) return nullptr;
    arrays_.emplace_back(count * sizeof(T), Filling::kZeros, sizeof(T));
    T* const entries = arrays_.back().template as<T>();
    for (uint64_t i = 0; i < count; ++i) entries[i] = static_cast<T>(make(i));
    arrays_.back().Seal();
    return entries;
  }
  float* Floats(uint64_t count) {
    const bool wild = c_.OneIn(24);
    return Array<float>(count, [&](uint64_t) {
      return wild ? random_.Float() : static_cast<float>(static_cast<int>(random_.Below(2001)) - 1000) / 1000;
    });
  }
  // Numbers up to the limit; in rare arrays any numbers.
  int32_t* Ids(uint64_t count, uint32_t limit) {
    const bool wild = c_.OneIn(16);
    return Array<int32_t>(count, [&](uint64_t) {
      const uint32_t any = wild && random_.OneIn(8) ? random_.Number() : random_.Below(uint64_t{limit} + 1);
      return any - (wild ? 1u : 0u);
    });
  }

  void Pattern();
  void Segments();
  void Listed();
  void Clusters();
  void Score();
  void Relative();
  void Positions();
  void Rows();
  void Weights();
  uint32_t* Offsets(uint32_t most, uint32_t* rows);
  fovea_attention_rows View(uint32_t rows, uint64_t of, uint64_t d, uint32_t type);

  Choices& c_;
  Random random_;
  std::deque<Guarded> arrays_;
  fovea_attention_options o_ = tools::Sized<fovea_attention_options>();
  fovea_attention_pattern p_ = tools::Sized<fovea_attention_pattern>();
  fovea_attention_rows q_ = {}, k_ = {}, v_ = {};
  uint32_t query_rows_ = 0, key_rows_ = 0, longest_ = 0;
  bool wants_weights_ = false, sparse_ = false;
};

void Problem::Pattern() {
  p_.window = c_.About(3);
  if (p_.window == FOVEA_WINDOW_SIDES) {
    p_.left = c_.OneIn(4) ? FOVEA_UNBOUNDED : c_.About(9);
    p_.right = c_.OneIn(4) ? FOVEA_UNBOUNDED : c_.About(9);
  }
  if (c_.OneIn(6)) p_.dilation = c_.About(5);
  if (c_.OneIn(4)) p_.block = c_.About(6);
  if (c_.OneIn(3)) p_.causal = c_.About(2);
  if (c_.OneIn(12)) {
    p_.head_windows = Array<int32_t>(heads() * 3, [&](uint64_t i) {
      const uint32_t side = random_.OneIn(16) ? random_.Number() : random_.Below(6) - 1;  // -1: all
      return i % 3 == 2 ? 1 + random_.Below(4) : side;
    });
  }
  if (c_.OneIn(4)) p_.first = c_.About(5);
  if (c_.OneIn(5)) p_.last = c_.About(5);
  if (c_.OneIn(8)) p_.full_up_to = c_.About(12);
  if (c_.OneIn(5)) p_.top_k = c_.About(9);
  if (c_.OneIn(5)) {
    p_.blocks_heads = c_.OneIn(2) ? o_.heads : c_.Below(2);
    p_.block_rows = c_.About(6);
    p_.block_columns = c_.About(4);
    const uint64_t tables = std::max(1u, p_.blocks_heads);
    const bool huge = uint64_t{p_.block_rows} * p_.block_columns > kMaxEntries;
    p_.blocks = Ids(huge ? UINT64_MAX : tables * p_.block_rows * p_.block_columns, 6);
  }
}

uint32_t* Problem::Offsets(uint32_t most, uint32_t* rows) {
  *rows = 0;
  const bool wild = c_.OneIn(32);
  uint32_t* const offsets = Array<uint32_t>(uint64_t{o_.segment_count} + 1, [&](uint64_t i) {
    if (i > 0) {
      const uint32_t length = c_.Below(most + 1);
      *rows += length;
      longest_ = std::max(longest_, length);
    }
    return wild && random_.OneIn(4) ? random_.Number() : *rows;
  });
  return offsets;
}

void Problem::Segments() {
  o_.pairing = c_.OneIn(6) ? c_.About(2) : 0;
  o_.segment_count = c_.Below(5);
  const uint32_t most = c_.OneIn(12) ? 200 : c_.OneIn(4) ? 40 : 9;
  const bool same = c_.OneIn(2);
  o_.key_offsets = Offsets(most, &key_rows_);
  if (o_.pairing == FOVEA_PAIRING_ROWS) {
    query_rows_ = o_.segment_count;
  } else if (same) {
    o_.query_offsets = o_.key_offsets;
    query_rows_ = key_rows_;
  } else {
    o_.query_offsets = Offsets(c_.OneIn(3) ? 1 : most, &query_rows_);
  }
  if (c_.OneIn(6)) {  // one segment of all rows
    o_.query_offsets = o_.key_offsets = nullptr;
    o_.segment_count = c_.Below(2);
    longest_ = key_rows_;
  }
}

void Problem::Listed() {
  if (!c_.OneIn(5)) return;
  // Ascending rows, up to three of each segment.
  std::vector<uint32_t> listed, offsets = {0};
  const uint32_t segments = o_.key_offsets == nullptr ? 1 : o_.segment_count;
  for (uint32_t s = 0; s < segments; ++s) {
    const uint32_t begin = o_.key_offsets == nullptr ? 0 : o_.key_offsets[s];
    const uint32_t end = o_.key_offsets == nullptr ? key_rows_ : o_.key_offsets[s + 1];
    for (uint32_t row = begin + c_.Below(4), left = 3; row < end && left > 0; row += 1 + c_.Below(5), --left)
      listed.push_back(row);
    offsets.push_back(static_cast<uint32_t>(listed.size()));
  }
  if (c_.OneIn(16) && !listed.empty()) random_.Pick(listed) = random_.Number();
  if (c_.OneIn(24)) random_.Pick(offsets) = random_.Number();
  p_.listed_count = static_cast<uint32_t>(listed.size());
  p_.listed = Array<uint32_t>(listed.size(), [&](uint64_t i) { return listed[i]; });
  p_.listed_offsets = Array<uint32_t>(offsets.size(), [&](uint64_t i) { return offsets[i]; });
}

void Problem::Clusters() {
  if (!c_.OneIn(5)) return;
  const bool causal = p_.causal == 1;
  if (!c_.OneIn(6)) {  // goes with nothing else
    p_ = tools::Sized<fovea_attention_pattern>();
    p_.causal = causal ? 1 : 0;
  }
  p_.rounds = c_.OneIn(32) ? c_.About(80) : 1 + c_.Below(3);
  p_.chunk = c_.About(7);
  p_.chunks_before = c_.About(3);
  p_.chunks_after = c_.About(3);
  const uint64_t columns = heads() * std::min(p_.rounds, 100u);
  if (c_.OneIn(4)) p_.cluster_stride = columns + c_.Below(3);
  const uint64_t stride = p_.cluster_stride == 0 ? columns : p_.cluster_stride;
  if (key_rows_ * stride > kMaxEntries) return;
  std::vector<int32_t> order(key_rows_ * stride), rank(order);
  const uint32_t segments = o_.key_offsets == nullptr ? 1 : o_.segment_count;
  for (uint32_t s = 0; s < segments; ++s) {
    const uint32_t begin = o_.key_offsets == nullptr ? 0 : o_.key_offsets[s];
    const uint32_t end = o_.key_offsets == nullptr ? key_rows_ : o_.key_offsets[s + 1];
    if (begin > end || end > key_rows_) continue;
    for (uint64_t column = 0; column < columns; ++column) {
      for (uint32_t i = 0; i < end - begin; ++i) {  // a turn of the rows is a sorting, too
        const uint32_t row = begin + (i + static_cast<uint32_t>(column)) % (end - begin);
        order[(begin + i) * stride + column] = static_cast<int32_t>(row);
        rank[row * stride + column] = static_cast<int32_t>(i);
      }
    }
  }
  if (c_.OneIn(12) && !order.empty()) random_.Pick(c_.OneIn(2) ? order : rank) = static_cast<int32_t>(random_.Number());
  p_.order = Array<int32_t>(order.size(), [&](uint64_t i) { return order[i]; });
  p_.rank = Array<int32_t>(rank.size(), [&](uint64_t i) { return rank[i]; });
}

void Problem::Score() {
  o_.score = c_.OneIn(4) ? c_.About(3) : 0;
  o_.weighting = c_.OneIn(4) ? c_.About(7) : 0;
  if (c_.OneIn(3)) o_.scale = random_.Float();
  if (c_.OneIn(8)) o_.cap = random_.Float();
  if (o_.score == FOVEA_SCORE_ADDITIVE) o_.additive = Floats(heads() * d_k());
  if (c_.OneIn(8)) o_.products = c_.About(3);
  if (c_.OneIn(8)) {
    o_.has_self_score = c_.About(2);
    o_.self_score = random_.Float();
  }
  if (c_.OneIn(5)) {
    o_.key_bias_heads = c_.OneIn(2) ? o_.heads : c_.About(2);
    const uint64_t of = o_.key_bias_heads <= 1 ? 1 : heads(), gap = c_.Below(2);
    if (c_.OneIn(2)) {
      o_.key_bias_head_stride = (1 + gap) * sizeof(float);
      o_.key_bias_row_stride = (of * (1 + gap) + gap) * sizeof(float);
    }
    const bool dense = o_.key_bias_row_stride == 0;
    if (dense && of == 1 && c_.OneIn(4)) o_.key_bias_head_stride = 64;  // of no meaning
    o_.key_bias = Floats(key_rows_ * (dense ? of : of * (1 + gap) + gap));
  }
}

void Problem::Relative() {
  if (c_.OneIn(4)) {
    o_.distance_reach = c_.About(7);
    const uint64_t distances = 2 * uint64_t{o_.distance_reach} + 1;
    if (!c_.OneIn(3)) o_.distance_bias = Floats(heads() * distances);
    if (c_.OneIn(2)) {
      o_.bucket_count = c_.About(5);
      const uint64_t vectors = heads() * Factor(o_.bucket_count) * d_k();
      o_.buckets = Ids(distances, o_.bucket_count == 0 ? 0 : o_.bucket_count - 1);
      if (!c_.OneIn(3)) o_.relative_keys = Floats(vectors);
      if (!c_.OneIn(3)) o_.relative_queries = Floats(vectors);
    }
  }
  if (c_.OneIn(8)) {
    o_.coordinate_sets = c_.About(3);
    o_.coordinate_positions = c_.OneIn(6) ? c_.About(9) : longest_ + c_.Below(2);
    o_.coordinates = Ids(uint64_t{std::max(1u, o_.coordinate_sets)} * o_.coordinate_positions, 30);
  }
}

void Problem::Positions() {
  if (c_.OneIn(10)) {
    o_.center_kind = c_.About(3);
    o_.gaussian = c_.About(2);
    const uint64_t stride = c_.OneIn(3) ? 3 : 1;
    if (stride != 1) o_.center_stride = stride * sizeof(float);
    o_.centers = Floats(query_rows_ * stride);
    if (!c_.OneIn(6)) {
      p_ = tools::Sized<fovea_attention_pattern>();
      p_.window = FOVEA_WINDOW_SIDES;
      p_.left = p_.right = c_.Below(6);
    }
  }
  if (c_.OneIn(12)) o_.query_stride = c_.About(4);
  if (c_.OneIn(12)) o_.apart = c_.About(3);
}

// Rows of vectors of one of three layouts, from the first byte to the last and not a byte more.
fovea_attention_rows Problem::View(uint32_t rows, uint64_t of, uint64_t d, uint32_t type) {
  static constexpr size_t kBytes[] = {4, 2, 2, 1};
  const size_t element = type < 4 ? kBytes[type] : 4, vector = d * element, gap = c_.Below(3) * element;
  fovea_attention_rows view = {};
  view.rows = rows;
  view.type = type;
  size_t head = vector, row = of * vector;
  if (c_.OneIn(3)) {
    head = vector + gap;
    row = of * head + gap;
    view.head_stride = head;
    view.row_stride = row;
  } else if (c_.OneIn(3)) {
    row = vector + gap;
    head = rows * row;
    view.head_stride = head;
    view.row_stride = row;
  }
  const uint64_t bytes = rows == 0 || d == 0 ? 0 : (rows - 1) * row + (of - 1) * head + vector;
  if (bytes > kMaxEntries * 4) return view;
  if (element == 4) {
    view.data = Floats(bytes / 4);
  } else {
    view.data = Array<uint8_t>(bytes, [&](uint64_t i) {
      // Small halves: the upper byte of 1.0 and less.
      return element == 2 && i % 2 == 1 ? 0x30 + random_.Below(12) : random_.Below(256);
    });
  }
  if (type == FOVEA_ROWS_I8) view.scales = Floats(uint64_t{rows} * of);
  return view;
}

void Problem::Rows() {
  const uint64_t kv_heads = o_.kv_heads == 0 ? heads() : Factor(o_.kv_heads);
  const uint32_t type = c_.OneIn(3) ? c_.About(4) : 0;
  q_ = View(query_rows_ + (c_.OneIn(8) ? c_.Below(3) : 0), heads(), d_k(), c_.OneIn(64) ? type : 0);
  k_ = View(key_rows_, kv_heads, d_k(), type);
  v_ = View(key_rows_, kv_heads, d_v(), type);
}

void Problem::Weights() {
  wants_weights_ = c_.OneIn(3);
  if (!wants_weights_) return;
  sparse_ = c_.OneIn(2);
  o_.weight_stride =
      c_.OneIn(6) ? c_.About(20) : longest_ * (p_.rounds > 1 ? std::min(p_.rounds, 8u) : 1) + c_.Below(3);
  if (sparse_ && c_.OneIn(2)) o_.weight_stride += longest_ * 2;
}

Transcript Problem::Run(Filling filling, uint32_t workers, uint32_t tile_rows) {
  Transcript transcript;
  fovea_attention_options options = o_;
  options.pattern = &p_;
  options.workers = workers;
  options.tile_rows = tile_rows;
  options.runner = [](void*, uint32_t count, fovea_task task, void* context) {
    while (count > 0) task(context, --count);
  };
  const uint64_t places = uint64_t{q_.rows} * heads() * std::min<uint64_t>(o_.weight_stride, kMaxEntries);
  const bool weights = wants_weights_ && places <= kMaxEntries;
  const Guarded of_weights(weights ? places * 4 : 0, Filling::kOnes, 4),
      keys(weights ? places * 4 : 0, Filling::kOnes, 4);
  const Guarded counts(weights ? uint64_t{q_.rows} * heads() * 4 : 0, Filling::kOnes, 4);
  if (weights) {
    options.weights = of_weights.as<float>();
    options.weight_keys = sparse_ ? keys.as<uint32_t>() : nullptr;
    options.weight_counts = sparse_ ? counts.as<uint32_t>() : nullptr;
  }
  const uint64_t numbers = uint64_t{q_.rows} * heads() * d_v();
  if (numbers > kMaxEntries || uint64_t{q_.rows} * heads() > kMaxEntries) return transcript;
  const Guarded outputs(numbers * sizeof(float), Filling::kOnes, sizeof(float));
  fovea_attention_out out = {};
  out.data = outputs.as<float>();
  out.rows = q_.rows;

  uint64_t pairs = 0, needed = 0;
  fovea_error error = {};
  const fovea_status counted = fovea_attention_pairs(&options, query_rows_, key_rows_, &pairs, &error);
  transcript.Status("pairs", counted, error);
  transcript.Number("pairs", pairs);
  const fovea_status sized = fovea_attention_scratch(&options, &needed, &error);
  transcript.Status("scratch", sized, error);
  if (needed > kMaxScratch) return transcript;
  const Guarded scratch(needed, filling);
  const fovea_status ran = fovea_attention_run(&options, &q_, &k_, &v_, &out, scratch.data(), needed, &error);
  transcript.Status("run", ran, error);
  Check(sized == FOVEA_OK || ran != FOVEA_OK, "options without scratch have run");
  Check(ran != FOVEA_E_TOO_SMALL, "as much scratch as was asked for is too little");
  transcript.Floats("outputs", outputs.as<float>(), numbers);
  transcript.Bytes("counts", counts.data(), counts.size());
  if (ran != FOVEA_OK) {
    const Guarded untouched(outputs.size(), Filling::kOnes, sizeof(float));
    Check(numbers == 0 || memcmp(untouched.data(), outputs.data(), outputs.size()) == 0,
          "a call that failed has written");
  } else if (needed != 0) {
    Check(fovea_attention_run(&options, &q_, &k_, &v_, &out, scratch.data(), needed - 1, &error) == FOVEA_E_TOO_SMALL &&
              error.expected == needed,
          "a byte less than the scratch is not refused");
  }
  if (!weights || ran != FOVEA_OK) return transcript;
  for (uint64_t line = 0; line < uint64_t{query_rows_} * heads(); ++line) {
    const uint64_t count = sparse_ ? counts.as<uint32_t>()[line] : 0, at = line * o_.weight_stride;
    if (count == UINT32_MAX) continue;  // a query after the last segment
    Check(count <= o_.weight_stride, "more weights than there is room");
    transcript.Floats("weights", of_weights.as<float>() + at, count);
    transcript.Bytes("keys of weights", keys.as<uint32_t>() + at, count * 4);
  }
  if (!sparse_) transcript.Floats("weights", of_weights.as<float>(), places);
  return transcript;
}

void Use(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  const uint32_t workers = 2 + choices.Below(5), tile_rows = 1 + choices.Below(9);
  const Filling filling = choices.OneIn(2) ? Filling::kOnes : Filling::kRandom;
  Problem problem(choices);
  Transcript::Compare(problem.Run(Filling::kZeros, 1, 0), problem.Run(filling, workers, tile_rows));
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
  std::vector<Input> seeds(8, Input(160));
  Random random(1);
  for (Input& seed : seeds) {
    for (uint8_t& byte : seed) byte = static_cast<uint8_t>(random.Next());
  }
  return seeds;
}

}  // namespace

const Harness kAttentionHarness = {"attention", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
