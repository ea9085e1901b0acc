#include "tests/fuzz/attention_problem.h"

#include <iterator>
#include <vector>

namespace fovea::fuzz {

AttentionProblem::AttentionProblem(Choices& choices) : c_(choices), random_(choices.Byte()) {
  o_.heads = c_.About(5);
  o_.kv_heads = c_.OneIn(3) ? 1 : c_.OneIn(6) ? c_.About(5) : 0;
  o_.d_k = c_.OneIn(64) ? c_.About(300) : 1 + c_.Below(40);
  o_.d_v = c_.OneIn(64) ? c_.About(300) : c_.Below(40);
  Segments();
  Pattern();
  Score();
  Weighting();
  Positions();
  Kept();
  Views();
  options_version_ = VersionOf<fovea_attention_options>();
  any_queries_ = random_.Below(1000);
  any_keys_ = random_.Number() & INT32_MAX;
}

float* AttentionProblem::Floats(uint64_t count) {
  const bool wild = c_.OneIn(24);
  return Array<float>(count, [&](uint64_t) {
    return wild ? random_.Float() : static_cast<float>(static_cast<int>(random_.Below(2001)) - 1000) / 1000;
  });
}

int32_t* AttentionProblem::Ids(uint64_t count, uint32_t limit) {
  const bool wild = c_.OneIn(16);
  return Array<int32_t>(count, [&](uint64_t) {
    const uint32_t any = wild && random_.OneIn(8) ? random_.Number() : random_.Below(uint64_t{limit} + 1);
    return any - (wild ? 1u : 0u);
  });
}

// ---- Segments ----

AttentionProblem::Side AttentionProblem::Offsets(uint32_t most) {
  Side side;
  const bool wild = c_.OneIn(32);
  uint32_t rows = 0, last = 0;
  side.offsets = Array<uint32_t>(uint64_t{o_.segment_count} + 1, [&](uint64_t i) {
    if (i > 0) {
      const uint32_t length = c_.Below(most + 1);
      rows += length;
      side.longest = std::max(side.longest, length);
    }
    last = wild && random_.OneIn(4) ? random_.Number() : rows;
    return last;
  });
  side.rows = last <= kMaxEntries ? std::max(rows, last) : rows;
  return side;
}

void AttentionProblem::Segments() {
  o_.pairing = c_.OneIn(6) ? c_.About(2) : 0;
  o_.segment_count = c_.Below(5);
  const uint32_t most = c_.OneIn(12) ? 200 : c_.OneIn(4) ? 40 : 9;
  const bool same = c_.OneIn(2);
  keys_ = Offsets(most);
  if (o_.pairing == FOVEA_PAIRING_ROWS) {
    queries_.rows = o_.segment_count;
    queries_.longest = 1;
  } else {
    queries_ = same ? keys_ : Offsets(c_.OneIn(3) ? 1 : most);
  }
  if (c_.OneIn(6)) {  // one segment of all rows
    queries_.offsets = keys_.offsets = nullptr;
    o_.segment_count = c_.Below(2);
    if (o_.pairing == FOVEA_PAIRING_ROWS) queries_.rows = o_.segment_count;
    queries_.longest = queries_.rows;
    keys_.longest = keys_.rows;
  }
  o_.query_offsets = queries_.offsets;
  o_.key_offsets = keys_.offsets;
}

// ---- The pattern: one kind, rarely several ----

void AttentionProblem::Pattern() {
  p_.causal = c_.OneIn(3) ? c_.About(2) : 0;
  const uint32_t kind = c_.Below(12);
  const bool mixed = c_.OneIn(16);
  if (kind < 6 || mixed) Window();
  if (kind == 6 || mixed || (kind < 6 && c_.OneIn(6))) Layout();
  if (kind == 7 || mixed) Clusters();
  if (kind == 8 || mixed) Centers();
  if (kind < 7 && c_.OneIn(2)) Global();
  if (kind < 6 && c_.OneIn(6)) p_.full_up_to = c_.About(12);
  if (kind != 7 && kind != 8 && c_.OneIn(5)) p_.top_k = c_.About(9);
  o_.pattern = Part(p_);
}

void AttentionProblem::Window() {
  p_.window = c_.About(3);
  if (p_.window == FOVEA_WINDOW_SIDES || c_.OneIn(32)) {
    p_.left = c_.OneIn(4) ? FOVEA_UNBOUNDED : c_.About(9);
    p_.right = c_.OneIn(4) ? FOVEA_UNBOUNDED : c_.About(9);
  }
  switch (c_.Below(8)) {
    case 0:
    case 1:
      p_.dilation = c_.About(5);
      break;
    case 2:
    case 3:
      p_.block = c_.About(6);
      break;
    case 4:
      if (p_.window != FOVEA_WINDOW_SIDES) break;
      p_.head_windows = Array<int32_t>(heads() * 3, [&](uint64_t i) {
        const uint32_t side = random_.OneIn(16) ? random_.Number() : random_.Below(6) - 1;  // -1: all
        return i % 3 == 2 ? 1 + random_.Below(4) : side;
      });
      break;
    default:
      break;
  }
}

void AttentionProblem::Global() {
  if (c_.OneIn(2)) p_.global_first = c_.About(5);
  if (c_.OneIn(3)) p_.global_last = c_.About(5);
  if (!c_.OneIn(3)) return;
  // Ascending rows, up to three of each segment.
  std::vector<uint32_t> listed, offsets = {0};
  const uint32_t count = keys_.offsets == nullptr ? 1 : o_.segment_count;
  for (uint32_t s = 0; s < count; ++s) {
    const uint32_t begin = keys_.offsets == nullptr ? 0 : keys_.offsets[s];
    const uint32_t end = keys_.offsets == nullptr ? keys_.rows : keys_.offsets[s + 1];
    for (uint64_t row = uint64_t{begin} + c_.Below(4), left = 3; row < end && left > 0; row += 1 + c_.Below(5), --left)
      listed.push_back(static_cast<uint32_t>(row));
    offsets.push_back(static_cast<uint32_t>(listed.size()));
  }
  if (c_.OneIn(16) && !listed.empty()) random_.Pick(listed) = random_.Number();
  if (c_.OneIn(24)) random_.Pick(offsets) = random_.Number();
  p_.global_key_count = static_cast<uint32_t>(listed.size());
  p_.global_keys = Array<uint32_t>(listed.size(), [&](uint64_t i) { return listed[i]; });
  if (count == 1 && c_.OneIn(2)) return;
  p_.global_key_offsets = Array<uint32_t>(offsets.size(), [&](uint64_t i) { return offsets[i]; });
}

void AttentionProblem::Layout() {
  p_.layout_heads = c_.OneIn(2) ? o_.heads : c_.Below(2);
  p_.layout_rows = c_.About(6);
  p_.layout_columns = c_.About(4);
  if (c_.OneIn(2)) p_.block = 1 + c_.Below(5);
  const uint64_t tables = std::max(1u, p_.layout_heads);
  const bool huge = uint64_t{p_.layout_rows} * p_.layout_columns > kMaxEntries;
  p_.layout = Ids(huge ? UINT64_MAX : tables * p_.layout_rows * p_.layout_columns, 6);
}

void AttentionProblem::Clusters() {
  p_.rounds = c_.OneIn(32) ? c_.About(80) : 1 + c_.Below(3);
  p_.chunk = c_.OneIn(32) ? c_.About(2) : 1 + c_.Below(6);
  p_.chunks_before = c_.About(3);
  p_.chunks_after = c_.About(3);
  if (c_.OneIn(3)) p_.chunk_multiple = c_.About(5);
  if (p_.rounds == 1 && c_.OneIn(4)) return;  // rows keep their order
  const uint64_t columns = heads() * std::min(p_.rounds, 100u);
  if (c_.OneIn(4)) p_.cluster_stride = columns + c_.Below(3);
  const uint64_t stride = p_.cluster_stride == 0 ? columns : p_.cluster_stride;
  if (keys_.rows * stride > kMaxEntries) return;
  std::vector<int32_t> order(keys_.rows * stride), rank(order);
  const uint32_t count = keys_.offsets == nullptr ? 1 : o_.segment_count;
  for (uint32_t s = 0; s < count; ++s) {
    const uint32_t begin = keys_.offsets == nullptr ? 0 : keys_.offsets[s];
    const uint32_t end = keys_.offsets == nullptr ? keys_.rows : keys_.offsets[s + 1];
    if (begin > end || end > keys_.rows) continue;
    for (uint64_t column = 0; column < columns; ++column) {
      for (uint32_t i = 0; i < end - begin; ++i) {  // a rotation of the rows is also a permutation
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

void AttentionProblem::Centers() {
  p_.centers = c_.OneIn(16) ? c_.About(4) : 1 + c_.Below(2);
  p_.window = FOVEA_WINDOW_SIDES;
  p_.left = p_.right = c_.Below(6);
  if (c_.OneIn(3)) p_.right = c_.Below(6);
  const uint64_t stride = c_.OneIn(3) ? 3 : 1;
  if (stride != 1) p_.center_stride = stride * sizeof(float);
  const bool wild = c_.OneIn(8);
  p_.center_values = Array<float>(Queries() == 0 ? 0 : (Queries() - 1) * stride + 1, [&](uint64_t) {
    return wild ? random_.Float() : static_cast<float>(random_.Below(120)) / (p_.centers == 1 ? 8.0f : 120.0f);
  });
}

// ---- The score ----

void AttentionProblem::Score() {
  s_.kind = c_.OneIn(4) ? c_.About(3) : 0;
  if (c_.OneIn(3)) s_.scale = random_.Float();
  if (c_.OneIn(8)) s_.cap = random_.Float();
  if (s_.kind == FOVEA_SCORE_ADDITIVE) s_.additive = Floats(heads() * d_k());
  if (c_.OneIn(8)) s_.products = c_.About(4);
  if (c_.OneIn(8)) {
    s_.has_self_score = c_.About(2);
    s_.self_score = random_.Float();
  }
  if (c_.OneIn(4)) KeyBias();
  if (c_.OneIn(4)) Relative();
  if (c_.OneIn(4)) PairBias();
  if (c_.OneIn(6)) s_.slopes = Floats(heads());
  o_.score = Part(s_);
}

void AttentionProblem::KeyBias() {
  s_.key_bias_heads = c_.OneIn(2) ? o_.heads : c_.About(2);
  const uint64_t of = s_.key_bias_heads <= 1 ? 1 : heads();
  const bool by_segment = c_.OneIn(4);
  const Strides strides =
      StridesOf(by_segment ? keys_.longest : keys_.rows, of, sizeof(float), sizeof(float), by_segment);
  s_.key_bias_row_stride = strides.row;
  s_.key_bias_head_stride = strides.head;
  s_.key_bias_segment_stride = strides.segment;
  if (of == 1 && c_.OneIn(4)) s_.key_bias_head_stride = 64;  // has no effect with one head
  s_.key_bias = Floats(strides.bytes / sizeof(float));
}

void AttentionProblem::PairBias() {
  fovea_attention_pairs_bias& bias = s_.pair_bias;
  bias.type = c_.OneIn(2) ? uint32_t{FOVEA_TYPE_U8} : c_.OneIn(16) ? c_.About(7) : uint32_t{FOVEA_TYPE_F32};
  bias.keys = c_.OneIn(16) ? c_.About(9) : keys_.longest + c_.Below(2);
  const size_t element = bias.type == FOVEA_TYPE_U8 ? 1 : 4;
  const uint64_t row = Factor(bias.keys) * element + c_.Below(2) * element;
  const bool by_row = c_.OneIn(4), shared_rows = c_.OneIn(5), shared_heads = c_.OneIn(3), shared = c_.OneIn(3);
  const uint64_t rows = shared_rows ? 1 : by_row ? Queries() : queries_.longest;
  if (!shared_rows) bias.row_stride = row;
  if (!shared_heads) bias.head_stride = row * std::max<uint64_t>(1, rows);
  const uint64_t table = row * rows * (shared_heads ? 1 : heads());
  if (by_row) {
    bias.segment_stride = FOVEA_BY_ROW;
  } else if (!shared) {
    bias.segment_stride = table;
  }
  const uint64_t count = table / element * (by_row || shared ? 1 : segments());
  const uint64_t gap = row / element - Factor(bias.keys), entries = count == 0 ? 0 : count - gap;
  bias.data = element == 4 ? static_cast<void*>(Floats(entries))
                           : Array<uint8_t>(entries, [&](uint64_t) { return random_.Below(3); });
}

void AttentionProblem::Relative() {
  s_.max_distance = c_.About(7);
  const uint64_t distances = 2 * uint64_t{s_.max_distance} + 1;
  const uint32_t what = c_.Below(4);
  if (what != 1) s_.distance_bias = Floats(heads() * distances);
  if (what != 0) {
    s_.bucket_count = c_.About(5);
    const uint64_t vectors = heads() * Factor(s_.bucket_count) * d_k();
    s_.buckets = Ids(distances, s_.bucket_count == 0 ? 0 : s_.bucket_count - 1);
    if (!c_.OneIn(3)) s_.relative_keys = Floats(vectors);
    if (!c_.OneIn(3)) s_.relative_queries = Floats(vectors);
  }
}

// ---- Weighting, positions, what is kept ----

void AttentionProblem::Weighting() {
  auto weighting = tools::Sized<fovea_attention_weighting>();
  if (c_.OneIn(3)) weighting.kind = c_.About(7);
  if (c_.OneIn(p_.centers != 0 ? 2 : 32)) weighting.gaussian = c_.About(2);
  if (c_.OneIn(6)) weighting.sinks = Floats(heads());
  o_.weighting = Part(weighting);
}

void AttentionProblem::Positions() {
  auto positions = tools::Sized<fovea_attention_positions>();
  if (c_.OneIn(5)) {
    positions.origin = c_.About(3);
    const bool wild = c_.OneIn(8);
    if (positions.origin == FOVEA_ORIGIN_STARTS) {
      positions.starts = Array<uint32_t>(
          segments(), [&](uint64_t) { return wild && random_.OneIn(3) ? random_.Number() : random_.Below(12); });
    }
  }
  if (c_.OneIn(10)) positions.query_stride = c_.About(4);
  if (c_.OneIn(10)) positions.apart = c_.About(3);
  if (c_.OneIn(8)) {
    positions.coordinate_sets = c_.About(3);
    const uint32_t longest = std::max(keys_.longest, queries_.longest);
    positions.coordinate_positions = c_.OneIn(6) ? c_.About(9) : longest + c_.Below(14);
    if (c_.OneIn(2)) positions.axes = c_.About(3);
    const uint64_t rows = uint64_t{std::max(1u, positions.coordinate_sets)} * std::clamp(positions.axes, 1u, 16u);
    positions.coordinates = Ids(rows * positions.coordinate_positions, 30);
  } else if (c_.OneIn(8)) {
    if (c_.OneIn(2)) positions.axes = c_.About(3);
    positions.row_coordinates = Floats(uint64_t{keys_.rows} * std::clamp(positions.axes, 1u, 16u));
  }
  o_.positions = Part(positions);
}

void AttentionProblem::Kept() {
  wants_kept_ = c_.OneIn(3);
  if (!wants_kept_) return;
  sparse_ = c_.OneIn(2);
  kept_.what = c_.OneIn(2) ? c_.About(2) : 0;
  const uint32_t again = std::max(1u, std::min(p_.rounds, 8u));
  kept_.stride = c_.OneIn(6) ? c_.About(20) : keys_.longest * again + c_.Below(3);
  if (sparse_ && c_.OneIn(2)) kept_.stride += keys_.longest * 2;
}

// ---- Views, from the first byte to the last and not a byte more ----

AttentionProblem::Strides AttentionProblem::StridesOf(uint32_t rows, uint64_t of, uint64_t vector, size_t element,
                                                      bool by_segment) {
  Strides strides;
  const size_t gap = c_.Below(3) * element;
  size_t head = vector, row = of * vector;
  if (c_.OneIn(3)) {  // [rows, heads, d], with gaps
    strides.head = head = vector + gap;
    strides.row = row = of * head + gap;
  } else if (c_.OneIn(2)) {  // [heads, rows, d]
    strides.row = row = vector + gap;
    strides.head = head = std::max(1u, rows) * row;
  }
  if (by_segment) strides.segment = std::max<size_t>({rows * row, of * head, element}) + gap;
  if (rows == 0 || vector == 0) return strides;
  strides.bytes = (rows - 1) * row + (of - 1) * head + vector + (by_segment ? (segments() - 1) * strides.segment : 0);
  return strides;
}

fovea_attention_rows AttentionProblem::View(uint32_t rows, uint64_t of, uint64_t d, uint32_t type, bool by_segment) {
  static constexpr size_t kBytes[] = {4, 2, 1, 1, 4, 2, 1};  // by FOVEA_TYPE_*
  const size_t element = type < std::size(kBytes) ? kBytes[type] : 4;
  fovea_attention_rows view = {};
  view.rows = rows;
  view.type = type;
  const Strides strides = StridesOf(rows, of, d * element, element, by_segment);
  view.row_stride = strides.row;
  view.head_stride = strides.head;
  view.segment_stride = strides.segment;
  if (strides.bytes > kMaxEntries * 4) return view;
  if (element == 4) {
    view.data = Floats(strides.bytes / 4);
  } else {
    view.data = Array<uint8_t>(strides.bytes, [&](uint64_t i) {
      // Small halves: the upper byte of 1.0 and less.
      return element == 2 && i % 2 == 1 ? 0x30 + random_.Below(12) : random_.Below(256);
    });
  }
  if (type != FOVEA_TYPE_I8) return view;
  const Strides scales = StridesOf(rows, of, sizeof(float), sizeof(float), by_segment);
  view.scale_row_stride = scales.row;
  view.scale_head_stride = scales.head;
  view.scale_segment_stride = scales.segment;
  view.scales = Floats(scales.bytes / 4);
  return view;
}

void AttentionProblem::Views() {
  static constexpr uint32_t kTypes[] = {FOVEA_TYPE_F32, FOVEA_TYPE_F16, FOVEA_TYPE_BF16, FOVEA_TYPE_I8};
  const uint64_t kv_heads = o_.kv_heads == 0 ? heads() : Factor(o_.kv_heads);
  const uint32_t type = c_.OneIn(32) ? c_.About(8) : c_.OneIn(2) ? kTypes[c_.Below(4)] : uint32_t{FOVEA_TYPE_F32};
  const bool places = c_.OneIn(4);  // segments each have their own
  const bool of_queries = places != c_.OneIn(8) && o_.pairing != FOVEA_PAIRING_ROWS;
  const bool all = o_.pairing != FOVEA_PAIRING_ROWS && queries_.offsets == nullptr;  // rows are queries
  const uint32_t more = c_.OneIn(8) && !all ? c_.Below(3) : 0;
  const uint32_t queries = (of_queries ? queries_.longest : Queries()) + more;
  const uint32_t keys = places ? keys_.longest : keys_.rows;
  q_ = View(queries, heads(), d_k(), c_.OneIn(64) ? type : 0, of_queries);
  k_ = View(keys, kv_heads, d_k(), type, places);
  v_ = View(keys, kv_heads, d_v(), type, places);
  const Strides out = StridesOf(queries, heads(), d_v() * sizeof(float), sizeof(float), of_queries);
  out_.rows = queries;
  out_.row_stride = c_.OneIn(64) ? sizeof(float) : out.row;  // rows that overlap
  out_.head_stride = out.head;
  out_.segment_stride = out.segment;
  out_bytes_ = out.bytes;
  if (c_.OneIn(5)) Summaries(kv_heads, type);
}

void AttentionProblem::Summaries(uint64_t kv_heads, uint32_t type) {
  auto summaries = tools::Sized<fovea_attention_summaries>();
  summaries.group = c_.About(5);
  const Side side = Offsets(6);
  const uint32_t other = c_.OneIn(32) ? c_.About(8) : type;
  summary_k_ = View(side.rows, kv_heads, d_k(), other, c_.OneIn(32));
  summary_v_ = View(side.rows, kv_heads, d_v(), type, false);
  summaries.k = &summary_k_;
  summaries.v = &summary_v_;
  summaries.offsets = side.offsets;
  if (c_.OneIn(2)) {
    summaries.max_distance = c_.About(7);
    summaries.bias = Floats(heads() * (2 * uint64_t{summaries.max_distance} + 1));
  }
  o_.summaries = Part(summaries);
}

}  // namespace fovea::fuzz
