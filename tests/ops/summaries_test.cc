// Attention to a window and to summaries of groups of keys, in one softmax, against plain loops.
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"
#include "tests/support/combinations.h"

namespace fovea::test {
namespace {

// Operands of attention, by their places among the inputs and the tensors (runtime/blob/op_list.inc).
enum Inputs { kSummaryKeys = 3, kSummaryValues = 4 };
enum Tensors { kDistanceBias = 0, kSummaryBias = 10 };

struct Shape {
  uint32_t heads, kv_heads, d_k, d_v, side, group, reach,
      summary_reach;  // reach: of biases by distance, 0: there is none
};

struct Rows {
  std::vector<float> q, k, v, summary_k, summary_v, bias, summary_bias;
};

double BiasOf(const std::vector<float>& table, uint32_t head, uint32_t reach, int distance) {
  if (table.empty()) return 0;
  const int most = static_cast<int>(reach);
  return table[head * (2 * reach + 1) + static_cast<size_t>(std::clamp(distance, -most, most) + most)];
}

std::vector<double> Attend(const Shape& c, const Rows& x, const Lengths& lengths) {
  std::vector<double> out;
  size_t row = 0, summary_row = 0;
  for (const uint32_t n : lengths) {
    const uint32_t stored = n == 0 ? 0 : std::max(n / c.group, 1u), groups = n / c.group;
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t head = 0; head < c.heads; ++head) {
        const uint32_t kv = head / (c.heads / c.kv_heads);
        const float* q = &x.q[((row + i) * c.heads + head) * c.d_k];
        std::vector<double> sum(c.d_v);
        double total = 0;
        const auto take = [&](const std::vector<float>& ks, const std::vector<float>& vs, size_t at, double bias) {
          double score = bias;
          for (uint32_t j = 0; j < c.d_k; ++j) score += 0.5 * q[j] * ks[(at * c.kv_heads + kv) * c.d_k + j];
          const double weight = std::exp(score);
          total += weight;
          for (uint32_t j = 0; j < c.d_v; ++j) sum[j] += weight * vs[(at * c.kv_heads + kv) * c.d_v + j];
        };
        for (uint32_t key = i > c.side ? i - c.side : 0; key < std::min(n, i + c.side + 1); ++key) {
          take(x.k, x.v, row + key, BiasOf(x.bias, head, c.reach, static_cast<int>(key) - static_cast<int>(i)));
        }
        const int own = groups == 0 ? 0 : static_cast<int>(std::min(i / c.group, groups - 1));
        for (uint32_t g = 0; g < groups; ++g) {
          take(x.summary_k, x.summary_v, summary_row + g,
               BiasOf(x.summary_bias, head, c.summary_reach, static_cast<int>(g) - own));
        }
        for (const double s : sum) out.push_back(s / total);
      }
    }
    row += n, summary_row += stored;
  }
  return out;
}

// An attention over inputs of these shapes, whose summaries are pooled from inputs as wide.
struct Program {
  explicit Program(const Shape& c, const Attributes& more = {}) : s(b) {
    groups = b.StridedSpace("groups", s.tokens, c.group, 0, static_cast<uint16_t>(c.group - 1));
    q = b.Input("q", s.tokens, c.heads * c.d_k), k = b.Input("k", s.tokens, c.kv_heads * c.d_k);
    v = b.Input("v", s.tokens, c.kv_heads * c.d_v);
    const auto pooled = [&](uint32_t x, uint32_t width) {
      return b.Op("pool", {x}, {}, groups, width, {{Attribute::kKind, 2}, {Attribute::kRest, 1}});
    };
    summary_k = pooled(k, c.kv_heads * c.d_k), summary_v = pooled(v, c.kv_heads * c.d_v);
    std::vector<uint32_t> tensors(kSummaryBias + 1, kBlobNone);
    if (c.reach != 0) tensors[kDistanceBias] = bias = b.RandomTensor(c.heads, 2 * c.reach + 1, DType::kF32, 2.0f);
    if (c.summary_reach != 0) {
      tensors[kSummaryBias] = summary_bias = b.RandomTensor(c.heads, 2 * c.summary_reach + 1, DType::kF32, 2.0f);
    }
    Attributes attributes = {{Attribute::kHeads, c.heads}, {Attribute::kKvHeads, c.kv_heads},
                             {Attribute::kScale, 0.5},     {Attribute::kPattern, 1},
                             {Attribute::kLeft, c.side},   {Attribute::kRight, c.side},
                             {Attribute::kSummaries, 1}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    y = b.Op("attention", {q, k, v, summary_k, summary_v}, tensors, s.tokens, c.heads * c.d_v, attributes, "step");
  }
  ModelBuilder b;
  TextSpaces s;
  uint32_t groups, q, k, v, summary_k, summary_v, y, bias = kBlobNone, summary_bias = kBlobNone;
};

// The mean of each whole group of rows; the last group of a segment takes the rows that are left.
std::vector<float> MeansOfGroups(const std::vector<float>& rows, const Lengths& lengths, uint32_t group, size_t width) {
  std::vector<float> means;
  size_t begin = 0;
  for (const uint32_t n : lengths) {
    const uint32_t stored = n == 0 ? 0 : std::max(n / group, 1u);
    for (uint32_t g = 0; g < stored; ++g) {
      const uint32_t end = g + 1 == stored ? n : (g + 1) * group;
      for (size_t j = 0; j < width; ++j) {
        double sum = 0;
        for (uint32_t r = g * group; r < end; ++r) sum += rows[(begin + r) * width + j];
        means.push_back(static_cast<float>(sum / (end - g * group)));
      }
    }
    begin += n;
  }
  return means;
}

struct SummaryCase {
  Shape shape;
  Lengths lengths;
};

TEST(Summaries, AgainstPlainLoops) {
  const std::vector<Shape> shapes = {
      {3, 3, 10, 10, 5, 4, 7, 3}, {4, 2, 7, 5, 2, 3, 0, 2}, {1, 1, 1, 1, 0, 2, 3, 0}, {6, 1, 33, 17, 70, 16, 20, 1}};
  std::vector<Lengths> all = RaggedLengths();
  all.push_back({3, 0, 200, 4, 5, 8});
  for (const SummaryCase& c : Combinations<SummaryCase>(shapes, all)) {
    const Shape& shape = c.shape;
    Program p(shape);
    Rows x;
    const size_t rows = Total(c.lengths), k_width = size_t{shape.kv_heads} * shape.d_k,
                 v_width = size_t{shape.kv_heads} * shape.d_v;
    x.q = p.b.RandomFloats(rows * shape.heads * shape.d_k), x.k = p.b.RandomFloats(rows * k_width);
    x.v = p.b.RandomFloats(rows * v_width);
    if (p.bias != kBlobNone) x.bias = p.b.TensorValues(p.bias);
    if (p.summary_bias != kBlobNone) x.summary_bias = p.b.TensorValues(p.summary_bias);
    x.summary_k = MeansOfGroups(x.k, c.lengths, shape.group, k_width);
    x.summary_v = MeansOfGroups(x.v, c.lengths, shape.group, v_width);
    const Feed feed = {{{p.s.tokens, c.lengths}}, {{p.q, x.q}, {p.k, x.k}, {p.v, x.v}}, {}};
    ExpectClose(RunTiled(p.b, feed, p.y), Attend(shape, x, c.lengths), 5e-6, 1e-7);
  }
}

TEST(Summaries, WhatTheyGoWith) {
  const Shape c = {2, 2, 4, 4, 3, 4, 2, 2};
  {
    Program p(c);
    ExpectAccepted(p.b, "fine");
  }
  const std::pair<const char*, Attributes> others[] = {{"causal", {{Attribute::kCausal, 1}}},
                                                       {"top_k", {{Attribute::kTopK, 2}}},
                                                       {"query_stride", {{Attribute::kQueryStride, 2}}},
                                                       {"apart", {{Attribute::kApart, 1}}},
                                                       {"self_score", {{Attribute::kSelfScore, -1}}},
                                                       {"origin", {{Attribute::kOrigin, 1}}}};
  for (const auto& [what, more] : others) {
    Program p(c, more);
    EXPECT_NE(ErrorOf(p.b).status, FOVEA_OK) << what;
  }
  // The spaces, widths and types of the two inputs.
  const auto refused = [&](const char* what, auto change) {
    Program p(c);
    auto& operations = p.b.content().programs[0].operations;
    change(p, operations.back());
    EXPECT_NE(ErrorOf(p.b).status, FOVEA_OK) << what;
  };
  refused("tokens", [](Program& p, auto& op) { op.inputs[kSummaryKeys] = op.inputs[kSummaryValues] = p.k; });
  refused("two spaces", [](Program& p, auto& op) { op.inputs[kSummaryValues] = p.v; });
  refused("one input", [](Program&, auto& op) { op.inputs.pop_back(); });
  refused("no flag", [](Program&, auto& op) { op.attributes.pop_back(); });
  refused("a bias alone", [](Program&, auto& op) { op.attributes.pop_back(), op.inputs.resize(3); });
  refused("groups that are not whole", [](Program& p, auto&) { p.b.content().spaces[p.groups].last = 0; });
  refused("bias", [](Program& p, auto& op) { op.tensors[kSummaryBias] = p.b.RandomTensor(2, 4); });
  refused("heads of the bias", [](Program& p, auto& op) { op.tensors[kSummaryBias] = p.b.RandomTensor(3, 5); });
}

}  // namespace
}  // namespace fovea::test
