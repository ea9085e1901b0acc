// Attention through programs: every pairing of spaces, grouped heads, patterns, bias and taps.
#include "runtime/attention/pattern.h"
#include "runtime/blob/attributes.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

enum class Spaces { kSelf, kCross, kParent };

struct Case {
  Spaces spaces;
  uint32_t heads, kv_heads, d_k, d_v;
  bool window = false;
  uint32_t left = kUnbounded, right = kUnbounded;
  uint32_t reach = 0;  // distance bias of 2 * reach + 1 entries
  bool bias = false;
  double scale = 0;                            // 0: the default
  std::vector<float> slopes = {}, sinks = {};  // one per head, or empty
};

struct Expected {
  std::vector<double> out, weights;  // weights[(row * heads + head) * stride + key]
};

Expected Reference(const Case& c, const Lengths& query_lengths, const Lengths& key_lengths, const std::vector<float>& q,
                   const std::vector<float>& k, const std::vector<float>& v, const std::vector<float>& bias,
                   uint32_t stride) {
  Expected e;
  const uint32_t group = c.heads / c.kv_heads;
  const double scale = c.scale != 0 ? static_cast<float>(c.scale) : 1 / std::sqrt(double{1} * c.d_k);
  size_t row = 0, first_key = 0;
  for (size_t segment = 0; segment < key_lengths.size(); ++segment) {
    const uint32_t keys = key_lengths[segment], queries = c.spaces == Spaces::kParent ? 1 : query_lengths[segment];
    for (uint32_t position = 0; position < queries; ++position, ++row) {
      for (uint32_t head = 0; head < c.heads; ++head) {
        std::vector<double> w(stride, 0.0);
        double sum = c.sinks.empty() ? 0 : std::exp(double{c.sinks[head]});
        for (uint32_t key = 0; key < keys; ++key) {
          const int64_t distance = int64_t{key} - position;
          if (c.window && ((c.left != kUnbounded && -distance > int64_t{c.left}) ||
                           (c.right != kUnbounded && distance > int64_t{c.right}))) {
            continue;
          }
          double score = 0;
          for (uint32_t i = 0; i < c.d_k; ++i) {
            score += double{q[(row * c.heads + head) * c.d_k + i]} *
                     k[((first_key + key) * c.kv_heads + head / group) * c.d_k + i];
          }
          score *= scale;
          if (c.bias) {
            const int64_t reach = c.reach;
            score += bias[head * (2 * reach + 1) + std::clamp(distance, -reach, reach) + reach];
          }
          if (!c.slopes.empty()) score += c.slopes[head] * static_cast<double>(distance);
          w[key] = std::exp(score);  // scores are small here: no maximum needed
          sum += w[key];
        }
        for (double& x : w) x = sum == 0 ? 0 : x / sum;
        for (uint32_t i = 0; i < c.d_v; ++i) {
          double out = 0;
          for (uint32_t key = 0; key < keys; ++key) {
            out += w[key] * v[((first_key + key) * c.kv_heads + head / group) * c.d_v + i];
          }
          e.out.push_back(out);
        }
        e.weights.insert(e.weights.end(), w.begin(), w.end());
      }
    }
    first_key += keys;
  }
  return e;
}

void Check(const Case& c, const Lengths& query_lengths, const Lengths& key_lengths, const std::string& what) {
  ModelBuilder b;
  const uint32_t texts = b.Space("texts"), keys = b.Space("keys", texts);
  const uint32_t queries = c.spaces == Spaces::kSelf     ? keys
                           : c.spaces == Spaces::kParent ? texts
                                                         : b.Space("queries", texts);
  const uint32_t q = b.Input("q", queries, c.heads * c.d_k), k = b.Input("k", keys, c.kv_heads * c.d_k);
  const uint32_t v = b.Input("v", keys, c.kv_heads * c.d_v);
  Attributes attributes = {{Attribute::kHeads, c.heads}, {Attribute::kKvHeads, c.kv_heads}};
  if (c.scale != 0) attributes.push_back({Attribute::kScale, c.scale});
  if (c.window) {
    attributes.push_back({Attribute::kPattern, 1});
    if (c.left != kUnbounded) attributes.push_back({Attribute::kLeft, c.left});
    if (c.right != kUnbounded) attributes.push_back({Attribute::kRight, c.right});
  }
  std::vector<uint32_t> tensors;
  std::vector<float> bias;
  if (c.bias) {
    bias = b.RandomFloats(size_t{c.heads} * (2 * c.reach + 1));
    tensors.push_back(b.Tensor(c.heads, 2 * c.reach + 1, bias));
  }
  for (const auto& [at, by_head] : {std::pair{8u, &c.slopes}, std::pair{9u, &c.sinks}}) {
    if (by_head->empty()) continue;
    tensors.resize(at, kBlobNone);
    tensors.push_back(b.Tensor(1, c.heads, *by_head));
  }
  const uint32_t y = b.Op("attention", {q, k, v}, tensors, queries, c.heads * c.d_v, attributes);
  const Lengths& rows_of = c.spaces == Spaces::kSelf ? key_lengths : query_lengths;
  const uint32_t rows = c.spaces == Spaces::kParent ? static_cast<uint32_t>(key_lengths.size()) : Total(rows_of);
  const std::vector<float> qs = b.RandomFloats(size_t{rows} * c.heads * c.d_k);
  const std::vector<float> ks = b.RandomFloats(size_t{Total(key_lengths)} * c.kv_heads * c.d_k);
  const std::vector<float> vs = b.RandomFloats(size_t{Total(key_lengths)} * c.kv_heads * c.d_v);
  Feed feed = {{{keys, key_lengths}}, {{q, qs}, {k, ks}, {v, vs}}, {}};
  if (c.spaces == Spaces::kCross) feed.segments.push_back({queries, query_lengths});
  const std::vector<float> found = RunTiled(b, feed, y);

  // Taps: the same output, and the weights.
  b.SetOutput(y);
  const TestModel model(b.Blob());
  const std::vector<fovea_limit> limits = LimitsOf(b, feed);
  fovea_session_options options = Options(limits, 2, 3);
  const fovea_tap tap = Sized<fovea_tap>();
  options.taps = &tap;
  options.tap_count = 1;
  TestSession session(model, options);
  for (const auto& [space, lengths] : feed.segments) session.SetSegments(space, lengths);
  for (const auto& [input, values] : feed.floats) session.SetInput(input, values);
  session.Run();
  EXPECT_EQ(session.Output(y), found) << what;
  fovea_attention_map weights = Sized<fovea_attention_map>();
  fovea_error error = {};
  ASSERT_EQ(fovea_session_get_attention_map(session.session, 0, &weights, &error), FOVEA_OK);
  EXPECT_EQ(weights.rows, rows);
  EXPECT_EQ(weights.heads, c.heads);
  EXPECT_EQ(weights.query_space, queries);
  EXPECT_EQ(weights.key_space, keys);

  const Expected e = Reference(c, rows_of, key_lengths, qs, ks, vs, bias, weights.stride);
  ExpectClose(found, e.out, 3e-6, 1e-7, what);
  size_t at = 0, segment = 0, left = c.spaces == Spaces::kParent ? 1 : rows_of.empty() ? 0 : rows_of[0];
  for (uint32_t row = 0; row < rows; ++row, --left) {
    while (left == 0) ++segment, left = c.spaces == Spaces::kParent ? 1 : rows_of[segment];
    for (uint32_t head = 0; head < c.heads; ++head, at += weights.stride) {
      // Entries after the segment's keys are unspecified.
      for (uint32_t key = 0; key < key_lengths[segment]; ++key) {
        ASSERT_NEAR(weights.data[at + key], e.weights[at + key], 2e-6) << what << " row " << row << " key " << key;
      }
    }
  }
}

const Lengths kQueries = {0, 3, 4, 0, 1, 17, 0}, kKeys = {2, 0, 9, 0, 25, 1, 3};

TEST(Attention, SpacesAndHeads) {
  for (const Spaces spaces : {Spaces::kSelf, Spaces::kCross, Spaces::kParent}) {
    for (const Case& c : {Case{spaces, 1, 1, 1, 1},
                          {spaces, 4, 4, 8, 8},
                          {spaces, 4, 2, 5, 7},
                          {spaces, 6, 1, 16, 3},
                          {spaces, 2, 2, 33, 64}}) {
      Check(c, kQueries, kKeys, "heads " + std::to_string(c.heads) + " of " + std::to_string(c.kv_heads));
    }
    Case scaled = {spaces, 2, 1, 8, 8};
    scaled.scale = 0.05;
    Check(scaled, kQueries, kKeys, "scale");
    Check({spaces, 2, 1, 8, 8}, {}, {}, "nothing");
    Check({spaces, 2, 1, 8, 8}, {5}, {0}, "queries without keys");
    Check({spaces, 2, 1, 8, 8}, {1, 70}, {300, 1}, "long");
  }
}

TEST(Attention, Windows) {
  for (const Spaces spaces : {Spaces::kSelf, Spaces::kCross, Spaces::kParent}) {
    struct Window {
      uint32_t left, right;
    };
    for (const Window w :
         {Window{kUnbounded, 0}, {kUnbounded, kUnbounded}, {0, 0}, {2, 1}, {0, kUnbounded}, {7, 0}, {100, 100}}) {
      Case c = {spaces, 4, 2, 6, 5};
      c.window = true;
      c.left = w.left;
      c.right = w.right;
      Check(c, kQueries, kKeys, "window " + std::to_string(w.left) + ", " + std::to_string(w.right));
    }
  }
}

TEST(Attention, DistanceBias) {
  for (const Spaces spaces : {Spaces::kSelf, Spaces::kCross, Spaces::kParent}) {
    for (const uint32_t reach : {0u, 1u, 5u, 40u}) {
      for (const bool window : {false, true}) {
        Case c = {spaces, 4, 2, 6, 5};
        c.bias = true;
        c.reach = reach;
        c.window = window;
        c.left = 4;
        c.right = 3;
        Check(c, kQueries, kKeys, "reach " + std::to_string(reach));
      }
    }
  }
}

TEST(Attention, SlopesAndSinks) {
  for (const Spaces spaces : {Spaces::kSelf, Spaces::kCross, Spaces::kParent}) {
    for (const bool window : {false, true}) {
      for (const bool bias : {false, true}) {
        Case c = {spaces, 4, 2, 6, 5};
        c.window = window;
        c.right = 0;
        c.bias = bias;
        c.reach = 3;
        c.slopes = {0.25f, 0.0625f, 0.01f, 0.0f};
        Check(c, kQueries, kKeys, "slopes");
        c.sinks = {-2.0f, 0.0f, 1.5f, 4.0f};
        Check(c, kQueries, kKeys, "slopes and sinks");
        c.slopes.clear();
        Check(c, kQueries, kKeys, "sinks");
        Check(c, {5, 2}, {0, 300}, "sinks without keys");
      }
    }
  }
}

// Slopes (ALiBi) have no longest distance.
TEST(Attention, SlopesReachFar) {
  Case c = {Spaces::kSelf, 2, 1, 4, 4};
  c.window = true;
  c.right = 0;
  c.slopes = {0.001f, 0.0001f};
  Check(c, {}, {1500}, "far");
}

TEST(Attention, RefusesSinksOutsideAPlainSoftmax) {
  for (const auto& attribute : {std::pair{Attribute::kTopK, 2.0}, std::pair{Attribute::kActivation, 1.0}}) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 4);
    std::vector<uint32_t> tensors(9, kBlobNone);
    tensors.push_back(b.RandomTensor(1, 2));
    b.SetOutput(b.Op("attention", {x, x, x}, tensors, s.tokens, 4, {{Attribute::kHeads, 2}, attribute}));
    ExpectRefused(b, FOVEA_E_SHAPE, "sinks");
  }
}

// An extended space pairs with its source; one value may be query, key and value at once.
TEST(Attention, ExtendedSpacesAndOneValue) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t longer = b.ExtendedSpace("longer", s.tokens, 1);
  const uint32_t x = b.Input("x", s.tokens, 6);
  const uint32_t y = b.Op("prepend", {x}, {b.RandomTensor(1, 6)}, longer, 6);
  const uint32_t z = b.Op("attention", {x, y, y}, {}, s.tokens, 6, {{Attribute::kHeads, 2}});
  const uint32_t self = b.Op("attention", {z, z, z}, {}, s.tokens, 6, {{Attribute::kHeads, 3}});
  b.SetOutput(y);
  b.SetOutput(z);
  const std::vector<float> xs = b.RandomFloats(21 * 6);
  const Lengths lengths = {4, 0, 17};
  const Feed feed = {{{s.tokens, lengths}}, {{x, xs}}, {}};
  const std::vector<float> ys = RunTiled(b, feed, y), zs = RunTiled(b, feed, z);
  ExpectClose(zs, Reference({Spaces::kCross, 2, 2, 3, 3}, lengths, {5, 1, 18}, xs, ys, ys, {}, 18).out, 3e-6, 0);
  ExpectClose(RunTiled(b, feed, self), Reference({Spaces::kSelf, 3, 3, 2, 2}, lengths, lengths, zs, zs, zs, {}, 18).out,
              3e-6, 0);
}

TEST(Attention, ShapeRules) {
  // Tokens and side are children of texts, words are children of tokens, and root is another root.
  enum SpaceOfTry { kTexts, kTokens, kSide, kWords, kRoot };
  struct Try {
    const char* what;
    fovea_status status = FOVEA_E_SHAPE;
    int q_space = kTokens, k_space = kTokens, v_space = kTokens, out_space = kTokens;
    uint32_t q = 12, k = 12, v = 8, out = 8;
    Attributes attributes = {{Attribute::kHeads, 4}};
    DType types[3] = {DType::kF32, DType::kF32, DType::kF32};
    std::function<std::vector<uint32_t>(ModelBuilder&)> tensors = [](ModelBuilder&) { return std::vector<uint32_t>(); };
  };
  std::vector<Try> tries;
  const auto add = [&tries](const char* what, const std::function<void(Try&)>& change) {
    Try t;
    t.what = what;
    change(t);
    tries.push_back(t);
  };
  const auto spaces = [](int q, int k, int v, int out, fovea_status status) {
    return [=](Try& t) { t.q_space = q, t.k_space = k, t.v_space = v, t.out_space = out, t.status = status; };
  };
  add("self", spaces(kTokens, kTokens, kTokens, kTokens, FOVEA_OK));
  add("cross", spaces(kTokens, kSide, kSide, kTokens, FOVEA_OK));
  add("parent", spaces(kTexts, kTokens, kTokens, kTexts, FOVEA_OK));
  add("parent below", spaces(kTokens, kWords, kWords, kTokens, FOVEA_OK));
  add("root", spaces(kTexts, kTexts, kTexts, kTexts, FOVEA_OK));
  add("two roots", spaces(kTexts, kRoot, kRoot, kTexts, FOVEA_E_SHAPE));
  add("keys above", spaces(kTokens, kTexts, kTexts, kTokens, FOVEA_E_SHAPE));
  add("grandparent", spaces(kTexts, kWords, kWords, kTexts, FOVEA_E_SHAPE));
  add("uncle", spaces(kSide, kWords, kWords, kSide, FOVEA_E_SHAPE));
  add("values elsewhere", spaces(kTokens, kTokens, kSide, kTokens, FOVEA_E_SHAPE));
  add("output elsewhere", spaces(kTokens, kSide, kSide, kSide, FOVEA_E_SHAPE));
  for (int i = 0; i < 3; ++i) add("type", [i](Try& t) { t.types[i] = DType::kI32; });
  const auto widths = [](uint32_t q, uint32_t k, uint32_t v, uint32_t out, fovea_status status) {
    return [=](Try& t) { t.q = q, t.k = k, t.v = v, t.out = out, t.status = status; };
  };
  add("query width", widths(13, 12, 8, 8, FOVEA_E_SHAPE));
  add("key width", widths(12, 8, 8, 8, FOVEA_E_SHAPE));
  add("value width", widths(12, 12, 9, 8, FOVEA_E_SHAPE));
  add("output width", widths(12, 12, 8, 12, FOVEA_E_SHAPE));
  const auto attributes = [](const Attributes& a, fovea_status status) {
    return [=](Try& t) { t.attributes = a, t.status = status; };
  };
  add("one head", [](Try& t) { t.attributes = {}, t.status = FOVEA_OK; });
  add("zero heads", attributes({{Attribute::kHeads, 0}}, FOVEA_E_SHAPE));
  add("many heads", attributes({{Attribute::kHeads, 4294967295.0}}, FOVEA_E_SHAPE));
  add("no kv heads", attributes({{Attribute::kHeads, 4}, {Attribute::kKvHeads, 0}}, FOVEA_E_SHAPE));
  add("kv heads", attributes({{Attribute::kHeads, 4}, {Attribute::kKvHeads, 3}}, FOVEA_E_SHAPE));
  add("more kv heads", attributes({{Attribute::kHeads, 4}, {Attribute::kKvHeads, 8}}, FOVEA_E_SHAPE));
  add("grouped", [](Try& t) {
    t.attributes = {{Attribute::kHeads, 4}, {Attribute::kKvHeads, 2}}, t.k = 6, t.v = 4, t.status = FOVEA_OK;
  });
  add("pattern", attributes({{Attribute::kHeads, 4}, {Attribute::kPattern, 3}}, FOVEA_E_OP));
  add("scale", attributes({{Attribute::kHeads, 4}, {Attribute::kScale, NAN}}, FOVEA_E_RECORD));
  add("attribute", attributes({{Attribute::kHeads, 4}, {Attribute::kEpsilon, 1}}, FOVEA_E_OP));
  const auto bias = [](uint32_t rows, uint32_t width, DType type, fovea_status status) {
    return [=](Try& t) {
      t.tensors = [=](ModelBuilder& b) { return std::vector<uint32_t>{b.RandomTensor(rows, width, type)}; };
      t.status = status;
    };
  };
  add("bias", bias(4, 5, DType::kF32, FOVEA_OK));
  add("even bias", bias(4, 6, DType::kF32, FOVEA_E_SHAPE));
  add("bias rows", bias(3, 5, DType::kF32, FOVEA_E_SHAPE));
  add("bias type", bias(4, 5, DType::kF16, FOVEA_E_SHAPE));
  for (const Try& t : tries) {
    ModelBuilder b;
    const uint32_t texts = b.Space("texts"), tokens = b.Space("tokens", texts), side = b.Space("side", texts);
    const uint32_t all[] = {texts, tokens, side, b.Space("words", tokens), b.Space("root")};
    const uint32_t q = b.Input("q", all[t.q_space], t.q, t.types[0]), k = b.Input("k", all[t.k_space], t.k, t.types[1]);
    const uint32_t v = b.Input("v", all[t.v_space], t.v, t.types[2]);
    b.Op("attention", {q, k, v}, t.tensors(b), all[t.out_space], t.out, t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
}

// Queries of spaces below the keys' parent see what copies of the keys would show them, one for each of their segments.
TEST(Attention, KeysOfAnAncestorAreThoseOfCopies) {
  constexpr uint32_t kWidth = 16;
  const Lengths key_lengths = {4, 0, 5, 40}, groups = {2, 1, 0, 1}, beams = {1, 3, 0, 1}, queries = {1, 2, 0, 3, 1};
  const Lengths texts_of_beams = {0, 0, 0, 0,
                                  3};  // groups 0 and 1 have 1 and 3 beams of text 0, the last one of text 3
  ModelBuilder random;
  const std::vector<float> q = random.RandomFloats(size_t{Total(queries)} * kWidth);
  const std::vector<float> k = random.RandomFloats(size_t{Total(key_lengths)} * kWidth);
  for (const Attributes& pattern :
       {Attributes{}, Attributes{{Attribute::kTopK, 2}},
        Attributes{{Attribute::kPattern, 1}, {Attribute::kLeft, 2}, {Attribute::kRight, 0}, {Attribute::kOrigin, 2}}}) {
    Attributes attributes = pattern;
    attributes.emplace_back(Attribute::kHeads, 2);
    const auto run = [&](bool copies, uint64_t* pairs) {
      ModelBuilder b;
      const uint32_t texts = b.Space("texts"), keys = b.Space("keys", texts);
      const uint32_t group = copies ? texts : b.Space("groups", texts), beam = copies ? texts : b.Space("beams", group);
      const uint32_t asking = b.Space("queries", beam);
      const uint32_t asked = b.Input("q", asking, kWidth), key = b.Input("k", keys, kWidth);
      const uint32_t y = b.Op("attention", {asked, key, key}, {}, asking, kWidth, attributes);
      b.SetOutput(y);
      std::vector<float> of_keys = k;
      Lengths lengths = key_lengths;
      if (copies) {
        of_keys.clear(), lengths.clear();
        for (const uint32_t text : texts_of_beams) {
          const auto begin = k.begin() + (text == 0 ? 0 : 9) * kWidth;
          lengths.push_back(key_lengths[text]);
          of_keys.insert(of_keys.end(), begin, begin + key_lengths[text] * kWidth);
        }
      }
      const TestModel model(b.Blob());
      fovea_session_options options = Options({});
      options.rows = 200;
      const fovea_limit limit = {texts, 5, 0};
      options.limits = &limit, options.limit_count = 1;
      TestSession session(model, options);
      session.SetSegments(keys, lengths);
      if (!copies) session.SetSegments(group, groups), session.SetSegments(beam, beams);
      session.SetSegments(asking, queries);
      session.SetInput(asked, q);
      session.SetInput(key, of_keys);
      session.Run();
      EXPECT_EQ(fovea_session_get_step_pairs(session.session, 0, pairs), FOVEA_OK);
      return session.Output(y);
    };
    uint64_t pairs[2];
    EXPECT_EQ(run(false, &pairs[0]), run(true, &pairs[1]));
    EXPECT_EQ(pairs[0], pairs[1]);
  }
}

}  // namespace
}  // namespace fovea::test
