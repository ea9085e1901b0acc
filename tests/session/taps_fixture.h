// Programs of one attention step, and what taps of it read, against the reference.
#ifndef FOVEA_TESTS_SESSION_TAPS_FIXTURE_H_
#define FOVEA_TESTS_SESSION_TAPS_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/api/handles.h"
#include "tests/session/runners.h"
#include "tests/support/distance.h"
#include "tests/support/model_builder.h"
#include "tests/support/reference_attention.h"

namespace fovea::test {

enum class Queries { kKeys, kOthers, kTexts };

inline constexpr uint32_t kHeads = 4, kDepth = 6, kWidth = 5;

// Queries, keys and values are inputs. With `listed` every fourth key is; with `rounds` keys are sorted by their hash.
struct TapProgram {
  TapProgram(Queries from, const Attributes& more, bool listed = false, uint32_t rounds = 0,
             const std::vector<std::pair<uint32_t, std::vector<float>>>& integers = {});

  ModelBuilder b;
  uint32_t texts, tokens, queries, q, k, v, step, y;
  uint32_t mask = kBlobNone, rows = kBlobNone, sorted = kBlobNone;
};

// Weights of a tap: a line for each tapped row and wanted head, a column for each row of the key space.
struct TapLines {
  std::vector<uint32_t> query_rows;
  std::vector<std::vector<float>> lines;
  bool operator==(const TapLines& other) const { return query_rows == other.query_rows && lines == other.lines; }
};

inline TapLines ReadDense(const TestSession& session, const fovea_attention_map& w, bool parent) {
  TapLines read;
  const Lengths keys = session.Segments(w.key_space), queries = session.Segments(w.query_space);
  for (uint32_t r = 0; r < w.rows; ++r) {
    uint32_t segment = w.query_rows[r];
    if (!parent) {
      segment = 0;
      for (uint32_t end = queries[0]; end <= w.query_rows[r]; end += queries[++segment]) {
      }
    }
    const uint32_t first = std::accumulate(keys.begin(), keys.begin() + segment, 0u);
    for (uint32_t h = 0; h < w.heads; ++h) {
      const float* line = w.data + (size_t{r} * w.heads + h) * w.stride;
      read.lines.emplace_back(w.key_rows);
      std::copy_n(line, keys[segment], read.lines.back().begin() + first);
    }
  }
  return read;
}

// Reads all three layouts, which must be equal.
inline TapLines ReadSparse(const TestSession& session, uint32_t tap, const fovea_attention_map& w) {
  const size_t lines = size_t{w.rows} * w.heads;
  TapLines read;
  read.lines.assign(lines, std::vector<float>(w.key_rows));
  uint64_t found = 0;
  std::vector<std::vector<float>> others[2] = {read.lines, read.lines};
  for (const uint32_t layout : {FOVEA_SPARSE_CSR, FOVEA_SPARSE_COO, FOVEA_SPARSE_CSC}) {
    const uint64_t offset_count = (layout == FOVEA_SPARSE_CSC ? w.key_rows : lines) + 1;
    std::vector<uint64_t> offsets(layout == FOVEA_SPARSE_COO ? 0 : offset_count);
    std::vector<uint32_t> line_of(layout == FOVEA_SPARSE_CSR ? 0 : w.entries);
    std::vector<uint32_t> key_of(layout == FOVEA_SPARSE_CSC ? 0 : w.entries);
    std::vector<float> values(w.entries);
    fovea_sparse_map arrays = {};
    arrays.struct_size = sizeof(arrays);
    arrays.layout = layout;
    arrays.offsets = offsets.data();
    arrays.offset_capacity = offsets.size();
    arrays.lines = line_of.data();
    arrays.keys = key_of.data();
    arrays.values = values.data();
    arrays.entry_capacity = w.entries;
    fovea_error error = {};
    EXPECT_EQ(fovea_session_get_sparse_map(session.session, tap, &arrays, &error), FOVEA_OK) << error.text;
    std::vector<std::vector<float>>& to = layout == FOVEA_SPARSE_CSR ? read.lines : others[layout - 1];
    uint64_t major = 0, before_major = UINT64_MAX, before_minor = 0;
    if (!offsets.empty()) {
      EXPECT_EQ(offsets[0], 0u);
      EXPECT_EQ(offsets.back(), w.entries);
    }
    for (uint64_t i = 0; i < w.entries; ++i) {
      while (!offsets.empty() && i >= offsets[major + 1]) ++major;
      const uint64_t line = layout == FOVEA_SPARSE_CSR ? major : line_of[i];
      const uint64_t key = layout == FOVEA_SPARSE_CSC ? major : key_of[i];
      const uint64_t first = layout == FOVEA_SPARSE_CSC ? key : line, second = layout == FOVEA_SPARSE_CSC ? line : key;
      EXPECT_TRUE(before_major == UINT64_MAX || first > before_major ||
                  (first == before_major && second > before_minor));
      before_major = first, before_minor = second;
      EXPECT_NE(values[i], 0.0f);
      EXPECT_TRUE(line < lines && key < w.key_rows);
      if (line < lines && key < w.key_rows) to[line][key] = values[i];
      ++found;
    }
  }
  EXPECT_EQ(found, 3 * w.entries);
  EXPECT_TRUE(others[0] == read.lines && others[1] == read.lines);
  return read;
}

inline TapLines ReadTap(const TestSession& session, uint32_t tap, bool parent) {
  fovea_attention_map w = Sized<fovea_attention_map>();
  fovea_error error = {};
  EXPECT_EQ(fovea_session_get_attention_map(session.session, tap, &w, &error), FOVEA_OK) << error.text;
  TapLines read = w.form == FOVEA_TAP_SPARSE ? ReadSparse(session, tap, w) : ReadDense(session, w, parent);
  read.query_rows.assign(w.query_rows, w.query_rows + w.rows);
  return read;
}

// Options with one tap, which must live as long as they are used.
inline fovea_session_options WithTap(fovea_session_options options, const fovea_tap* tap) {
  options.taps = tap;
  options.tap_count = 1;
  return options;
}

// One model with inputs, run with and without taps.
class TapCase {
 public:
  TapCase(TapProgram program, const Lengths& keys, const Lengths& queries)
      : program_(std::move(program)), model_(program_.b.Blob()), keys_(keys), queries_(queries) {
    if (program_.queries == program_.tokens) queries_ = keys_;
    if (program_.queries == program_.texts) queries_ = {static_cast<uint32_t>(keys_.size())};
    const auto total = [](const Lengths& lengths) { return std::accumulate(lengths.begin(), lengths.end(), 0u); };
    limits_ = {{program_.texts, std::max<uint32_t>(static_cast<uint32_t>(keys_.size()), 1), 0},
               {program_.tokens, std::max(total(keys_), 1u), 0}};
    const bool own = program_.queries != program_.tokens && program_.queries != program_.texts;
    if (own) limits_.push_back({program_.queries, std::max(total(queries_), 1u), 0});
    const auto& values = program_.b.content().programs[0].values;
    q_ = program_.b.RandomFloats(size_t{total(queries_)} * values[program_.q].width);
    k_ = program_.b.RandomFloats(size_t{total(keys_)} * values[program_.k].width);
    v_ = program_.b.RandomFloats(size_t{total(keys_)} * values[program_.v].width);
    for (uint32_t i = 0; i < total(keys_); ++i) mask_.push_back(0);
    for (uint32_t i = 0; i < mask_.size(); i += 7) mask_[i] = 1;
  }

  const TapProgram& program() const { return program_; }
  const TestModel& model() const { return model_; }
  const std::vector<fovea_limit>& limits() const { return limits_; }

  void Run(TestSession* session) const {
    session->SetSegments(program_.tokens, keys_);
    if (program_.queries != program_.tokens && program_.queries != program_.texts) {
      session->SetSegments(program_.queries, queries_);
    }
    session->SetInput(program_.q, q_);
    session->SetInput(program_.k, k_);
    session->SetInput(program_.v, v_);
    if (program_.mask != kBlobNone) session->SetInput(program_.mask, mask_);
    session->Run();
  }

  // The reference's weights of all rows and heads: [rows, heads, longest segment].
  std::vector<double> Reference() const {
    fovea_session_options options = Options(limits_);
    std::vector<uint32_t> keep;
    for (const uint32_t value : {program_.rows, program_.sorted}) {
      if (value != kBlobNone) keep.push_back(value);
    }
    options.keep = keep.data();
    options.keep_count = static_cast<uint32_t>(keep.size());
    TestSession session(model_, options);
    Run(&session);
    const Model& model = model_.model->model;
    const AttentionSpec& spec = AsAttention(model.Operation(model.blob.programs[0], program_.step))->spec;
    AttentionCall call = {};
    call.spec = &spec;
    const std::vector<uint32_t> query_offsets = Offsets(queries_), key_offsets = Offsets(keys_);
    call.query_segments = {query_offsets.data(), static_cast<uint32_t>(queries_.size())};
    call.key_segments = {key_offsets.data(), static_cast<uint32_t>(keys_.size())};
    call.q = DenseHeads<const void>(q_.data(), spec.heads, spec.d_k);
    call.k = DenseHeads<const void>(k_.data(), spec.kv_heads, spec.d_k);
    call.v = DenseHeads<const void>(v_.data(), spec.kv_heads, spec.d_v);
    std::vector<uint32_t> listed, listed_offsets(1, 0);
    if (program_.rows != kBlobNone) {
      for (uint32_t segment = 0; segment < keys_.size(); ++segment) {
        for (uint32_t row = key_offsets[segment]; row < key_offsets[segment + 1]; ++row) {
          if (mask_[row] != 0) listed.push_back(row);
        }
        listed_offsets.push_back(static_cast<uint32_t>(listed.size()));
      }
      call.global_keys.rows = listed.data();
      call.global_keys.segments = {listed_offsets.data(), static_cast<uint32_t>(keys_.size())};
    }
    std::vector<int32_t> sorted;
    if (program_.sorted != kBlobNone) {
      sorted = session.Indices(program_.sorted);
      const size_t columns = size_t{spec.heads} * spec.pattern.rounds;
      call.clusters = {sorted.data(), sorted.data() + columns, 2 * columns};
    }
    return RunReferenceAttention(call, query_offsets.back(), Longest()).weights;
  }

  TapLines Expected(const fovea_tap& tap, const std::vector<double>& weights) const {
    TapLines expected;
    const std::vector<uint32_t> query_offsets = Offsets(queries_), key_offsets = Offsets(keys_);
    const bool parent = program_.queries == program_.texts;
    for (uint32_t segment = 0; segment < queries_.size(); ++segment) {
      for (uint32_t p = 0; p < queries_[segment]; ++p) {
        if (tap.rows == FOVEA_TAP_ROWS_LAST && p + 1 != queries_[segment]) continue;
        if (tap.rows == FOVEA_TAP_ROWS_STRIDE && (p < tap.offset || (p - tap.offset) % tap.stride != 0)) continue;
        const uint32_t row = query_offsets[segment] + p, of_keys = parent ? row : segment;
        expected.query_rows.push_back(row);
        std::vector<double> reduced;
        uint32_t wanted = 0;
        for (uint32_t head = 0; head < kHeads; ++head) {
          if (tap.heads != 0 && ((tap.heads >> head) & 1) == 0) continue;
          std::vector<double> line(key_offsets.back());
          const double* from = &weights[(size_t{row} * kHeads + head) * Longest()];
          std::copy_n(from, keys_[of_keys], line.begin() + key_offsets[of_keys]);
          ++wanted;
          if (tap.reduce == FOVEA_REDUCE_NONE) expected.lines.emplace_back(line.begin(), line.end());
          if (reduced.empty()) {
            reduced = line;
            continue;
          }
          for (size_t i = 0; i < line.size(); ++i) {
            reduced[i] = tap.reduce == FOVEA_REDUCE_MAX ? std::max(reduced[i], line[i]) : reduced[i] + line[i];
          }
        }
        if (tap.reduce == FOVEA_REDUCE_NONE) continue;
        for (double& x : reduced) x /= tap.reduce == FOVEA_REDUCE_MEAN ? wanted : 1;
        expected.lines.emplace_back(reduced.begin(), reduced.end());
      }
    }
    return expected;
  }

  // The tap against the reference, the output as it is without, in every tiling.
  void Check(const fovea_tap& tap, const std::vector<double>& weights) const {
    SCOPED_TRACE(testing::Message() << "form " << tap.form << " rows " << tap.rows << " reduce " << tap.reduce
                                    << " heads " << tap.heads);
    TestSession plain(model_, Options(limits_));
    Run(&plain);
    const TapLines expected = Expected(tap, weights);
    TapLines first;
    for (const uint32_t tile_rows : {0u, 1u, 17u}) {
      const uint32_t workers = tile_rows == 0 ? 1 : 3;
      fovea_session_options options = WithTap(Options(limits_, workers, tile_rows), &tap);
      options.runner = tile_rows == 1 ? ReverseRunner : ThreadRunner;
      TestSession session(model_, options);
      Run(&session);
      EXPECT_EQ(session.Output(program_.y), plain.Output(program_.y));
      const TapLines found = ReadTap(session, 0, program_.queries == program_.texts);
      ASSERT_EQ(found.query_rows, expected.query_rows);
      ASSERT_EQ(found.lines.size(), expected.lines.size());
      double worst = 0;
      for (size_t i = 0; i < found.lines.size(); ++i) {
        for (size_t key = 0; key < found.lines[i].size(); ++key) {
          worst = std::max(worst, Distance(found.lines[i][key], expected.lines[i][key]));
          if (expected.lines[i][key] == 0.0f) {
            EXPECT_EQ(found.lines[i][key], 0.0f) << i << " " << key;
          }
        }
      }
      EXPECT_LE(worst, 4e-6);
      if (tile_rows == 0) first = found;
      EXPECT_TRUE(found == first) << "tiles of " << tile_rows;
    }
  }

 private:
  static std::vector<uint32_t> Offsets(const Lengths& lengths) {
    std::vector<uint32_t> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
  }
  uint32_t Longest() const { return keys_.empty() ? 0 : *std::max_element(keys_.begin(), keys_.end()); }

  TapProgram program_;
  TestModel model_;
  Lengths keys_, queries_;
  std::vector<fovea_limit> limits_;
  std::vector<float> q_, k_, v_;
  std::vector<int32_t> mask_;
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SESSION_TAPS_FIXTURE_H_
