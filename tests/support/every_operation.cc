#include "tests/support/every_operation.h"

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/support/by_name.h"
#include "tests/support/model_builder.h"
#include "tests/text/fixtures.h"

namespace fovea::test {

std::vector<tools::BlobPacked> PackedOf(const TestModel& model, const char* target) {
  uint64_t bytes = 0, layout = 0;
  fovea_error error = {};
  EXPECT_EQ(fovea_model_packed_size(model.model, target, &bytes, &layout), FOVEA_OK);
  if (bytes == 0) return {};
  const AlignedBytes out(bytes);
  EXPECT_EQ(fovea_model_pack(model.model, target, out.data(), bytes, &error), FOVEA_OK) << error.text;
  return {{layout, {out.data(), out.data() + bytes}}};
}

tools::BlobContent EveryOperation() {
  ModelBuilder b;
  const uint32_t documents = b.Space("documents"), sentences = b.Space("sentences", documents);
  const uint32_t tokens = b.Space("tokens", sentences), longer = b.ExtendedSpace("longer", tokens, 2);
  const uint32_t others = b.Space("others", sentences), pixels = b.FixedSpace("pixels", sentences, 4);
  const uint32_t patches = b.FixedSpace("patches", sentences, 2), half = b.StridedSpace("half", tokens, 2, 1, 1);
  const uint32_t chosen = b.SelectedSpace("chosen", tokens, 3);
  const uint32_t cells = b.FixedSpace("cells", patches, 3), width = 32;
  const uint32_t queries = b.Space("queries", documents), best = b.SelectedSpace("best", sentences, 1);
  const uint32_t of_best = b.ExpandedSpace("of_best", tokens, best), longest = b.ExtendedSpace("longest", of_best, 2);
  const uint32_t ids = b.Input("ids", tokens, 1, DType::kI32), types = b.Input("types", tokens, 1, DType::kI32);
  const uint32_t other = b.Input("other", others, width), pixel = b.Input("pixel", pixels, 8);
  const uint32_t query = b.Input("query", queries, 1, DType::kI32);
  const auto op = [&](std::string_view name, std::vector<uint32_t> in, std::vector<uint32_t> tensors, uint32_t space,
                      const Attributes& attributes = {}, uint32_t to = 32) {
    return b.Op(name, std::move(in), std::move(tensors), space, to, attributes);
  };
  uint32_t x = op("embed", {ids, types}, {b.RandomTensor(12, width, DType::kI8), b.RandomTensor(2, width, DType::kF16)},
                  tokens, {{Attribute::kScale, 2}});
  x = op("position", {x}, {b.RandomTensor(9, width)}, tokens, {{Attribute::kOffset, 1}});
  x = op("norm", {x}, {b.RandomTensor(1, width), b.RandomTensor(1, width)}, tokens, {{Attribute::kEpsilon, 1e-6}});
  const uint32_t q = op("rotate", {op("linear", {x}, {b.RandomTensor(width, width, DType::kI8)}, tokens)},
                        {b.RandomTensor(10, 8)}, tokens, {{Attribute::kHeads, 4}, {Attribute::kInterleaved, 1}});
  const uint32_t k = op("linear", {x}, {b.RandomTensor(16, width, DType::kI4), kBlobNone}, tokens, {}, 16);
  const uint32_t v = op("linear", {x}, {b.RandomTensor(16, width, DType::kF16), b.RandomTensor(1, 16)}, tokens, {}, 16);
  const Attributes of_two = {{Attribute::kType, 2}, {Attribute::kHeads, 2}};
  const uint32_t narrow_k = op("cast", {k}, {}, tokens, of_two, 16);
  const uint32_t narrow_v = op("cast", {v}, {}, tokens, of_two, 16);
  const uint32_t a =
      b.Op("attention", {q, narrow_k, narrow_v},
           {b.RandomTensor(4, 5), kBlobNone, kBlobNone, kBlobNone, kBlobNone, b.RandomTensor(4 * 3, 8, DType::kF16),
            b.RandomTensor(4 * 3, 8), b.Tensor(1, 5, {0, 0, 1, 2, 2}, DType::kI32)},
           tokens, width,
           {{Attribute::kHeads, 4}, {Attribute::kKvHeads, 2}, {Attribute::kPattern, 1}, {Attribute::kLeft, 3}}, "self");
  x = op("add", {x, a}, {}, tokens);
  x = op("gate", {x, op("activate", {a}, {}, tokens, {{Attribute::kActivation, 3}})}, {}, tokens,
         {{Attribute::kActivation, 4}});
  const uint32_t routed = op("slice", {x}, {}, tokens, {{Attribute::kWidth, 3}}, 3);
  const uint32_t of_two_experts = op("experts", {x, routed}, {b.RandomTensor(3 * width, width, DType::kI8)}, tokens,
                                     {{Attribute::kExperts, 3}, {Attribute::kTopK, 2}}, 2 * width);
  x = op("experts", {of_two_experts, routed}, {b.RandomTensor(3 * width, width), b.RandomTensor(1, 3 * width)}, tokens,
         {{Attribute::kKind, 2}, {Attribute::kExperts, 3}, {Attribute::kTopK, 2}});
  const uint32_t score = op("linear", {x}, {b.RandomTensor(1, width)}, tokens, {}, 1);
  const uint32_t rows = op("select", {score}, {}, chosen, {{Attribute::kKind, 2}}, 1);
  const uint32_t taken = op("gather", {x, rows}, {}, chosen);
  const uint32_t seen = op("attention", {taken, x, x}, {}, chosen, {{Attribute::kHeads, 2}});
  x = op("merge", {x, seen, rows}, {}, tokens);
  const uint32_t buckets =
      b.Op("hash", {x}, {b.RandomTensor(2 * 2 * (2 + 1), 16)}, tokens, 4,
           {{Attribute::kHeads, 2}, {Attribute::kRounds, 2}, {Attribute::kBuckets, 4}, {Attribute::kMoreBuckets, 2}});
  const uint32_t sorted = op("sort", {buckets}, {}, tokens, {}, 8);
  const uint32_t clustered = op("attention", {x, x, x, sorted}, {}, tokens,
                                {{Attribute::kHeads, 2},
                                 {Attribute::kRounds, 2},
                                 {Attribute::kChunk, 2},
                                 {Attribute::kChunksBefore, 1},
                                 {Attribute::kSelfScore, -1e5}});
  const uint32_t both = op("concat", {x, clustered}, {}, tokens, {}, 64);
  x = op("linear", {both}, {b.RandomTensor(width, 64)}, tokens);
  const uint32_t learned = op("fill", {}, {b.RandomTensor(1, width)}, sentences);
  x = op("broadcast", {learned, x}, {}, tokens, {{Attribute::kRows, 2}, {Attribute::kCombine, 1}});
  x = op("gate", {score, x}, {}, tokens, {{Attribute::kActivation, 7}});
  x = op("add", {op("broadcast", {learned}, {}, tokens), x}, {}, tokens);
  const uint32_t gates = op("linear", {x}, {b.RandomTensor(4 * 16, width)}, tokens, {}, 64);
  const uint32_t lstm = op("cell", {gates, x}, {b.RandomTensor(64, 16, DType::kF16)}, tokens,
                           {{Attribute::kCell, 1}, {Attribute::kActivation, 8}});
  const uint32_t part = op("slice", {gates}, {}, tokens, {{Attribute::kBegin, 10}, {Attribute::kWidth, 48}}, 48);
  const uint32_t hidden = op("slice", {lstm}, {}, tokens, {{Attribute::kWidth, 16}}, 16);
  const uint32_t gru = op("cell", {part, hidden}, {b.RandomTensor(48, 16), b.RandomTensor(1, 48)}, tokens,
                          {{Attribute::kResetAfter, 0}}, 16);
  x = op("concat", {gru, hidden}, {}, tokens);
  const uint32_t state =
      op("recurrent", {gates, learned, score}, {b.RandomTensor(64, 16, DType::kI8)}, tokens,
         {{Attribute::kCell, 1}, {Attribute::kInitial, 1}, {Attribute::kMasked, 1}, {Attribute::kOutput, 1}});
  const uint32_t back = op("recurrent", {part}, {b.RandomTensor(48, 16), b.RandomTensor(1, 48)}, tokens,
                           {{Attribute::kReverse, 1}, {Attribute::kResetAfter, 0}}, 16);
  x = op("concat", {op("slice", {x}, {}, tokens, {{Attribute::kWidth, 16}}, 16), back}, {}, tokens);
  x = op("add", {x, state}, {}, tokens);
  const uint32_t wide = op("unfold", {x}, {}, half, {{Attribute::kBefore, 1}}, 64);
  const uint32_t halved = op("linear", {wide}, {b.RandomTensor(width, 64, DType::kI8)}, half);
  const uint32_t most = op("pool", {x}, {}, half, {{Attribute::kKind, 3}});
  const uint32_t far = op("attention", {most, x, x}, {b.RandomTensor(2, 7)}, half,
                          {{Attribute::kHeads, 2}, {Attribute::kQueryStride, 2}, {Attribute::kApart, 1}});
  const uint32_t mixed = op("convolve", {op("upsample", {far}, {}, tokens)},
                            {b.RandomTensor(3, width), b.RandomTensor(1, width)}, tokens, {{Attribute::kAfter, 1}});
  b.SetOutput(mixed);
  b.SetOutput(op("pool", {op("add", {halved, most}, {}, half)}, {}, sentences, {{Attribute::kKind, 2}}));
  const uint32_t patch = op("arrange", {pixel}, {b.Tensor(2, 4, {0, 1, -1, 3, 2, 0, 1, 2}, DType::kI32)}, patches);
  b.SetOutput(op("arrange", {patch}, {b.Tensor(4, 1, {1, 0, -1, 1}, DType::kI32)}, pixels));
  b.SetOutput(op("arrange", {pixel}, {b.Tensor(6, 4, std::vector<float>(24, 3), DType::kI32)}, cells));
  const uint32_t blend =
      op("arrange", {pixel}, {b.Tensor(2, 2, {0, 1, -1, 3}, DType::kI32), b.RandomTensor(2, 2)}, patches, {}, 8);
  b.SetOutput(
      op("convolve", {blend},
         {b.RandomTensor(3, 8), kBlobNone, b.Tensor(4, 3, {1, -1, 0, 1, 1, 1, -1, -1, -1, 0, 0, 1}, DType::kI32)},
         pixels, {}, 8));
  const uint32_t places = op("slice", {x}, {}, tokens, {{Attribute::kWidth, 2}}, 2);
  x = op("attention", {x, x, x, places}, {b.RandomTensor(4, 5)}, tokens,
         {{Attribute::kHeads, 2}, {Attribute::kAxes, 2}, {Attribute::kRowCoordinates, 1}});
  b.SetOutput(op("received", {x, x, x}, {}, tokens, {{Attribute::kHeads, 4}, {Attribute::kCausal, 1}}, 4));
  b.SetOutput(op("prepend", {x, patch}, {}, longer));
  const uint32_t y = op("prepend", {x}, {b.RandomTensor(2, width)}, longer);
  const uint32_t half_y = op("cast", {y}, {}, longer, {{Attribute::kType, 5}});
  b.SetOutput(half_y);
  const uint32_t cross = op("attention", {other, half_y, half_y}, {}, others, {{Attribute::kHeads, 2}});
  const uint32_t s = op("pool", {cross}, {}, sentences, {{Attribute::kKind, 4}});
  const uint32_t t = op("attention", {s, y, y}, {}, sentences, {{Attribute::kHeads, 1}});
  const uint32_t near =
      op("attention", {s, y, y, op("linear", {s}, {b.RandomTensor(1, width)}, sentences, {}, 1)}, {}, sentences,
         {{Attribute::kHeads, 2},
          {Attribute::kPattern, 1},
          {Attribute::kLeft, 2},
          {Attribute::kRight, 2},
          {Attribute::kCenters, 2},
          {Attribute::kGaussian, 1}});
  b.SetOutput(near);
  const uint32_t n =
      op("norm", {t}, {b.RandomTensor(1, width)}, sentences, {{Attribute::kKind, 1}, {Attribute::kWeightOffset, 1}});
  const uint32_t u = op("normalize", {n}, {}, sentences, {{Attribute::kClamp, 1}, {Attribute::kEpsilon, 1e-12}});
  const uint32_t d =
      op("pool", {op("scale", {u}, {}, sentences, {{Attribute::kScale, 0.5}})}, {}, documents, {{Attribute::kKind, 3}});
  const uint32_t by_words = op("lexical", {ids, query}, {b.RandomTensor(1, 12)}, sentences, {{Attribute::kB, 0.5}}, 1);
  const uint32_t cosines = op("lexical", {ids, query}, {}, sentences, {{Attribute::kKind, 1}}, 1);
  const uint32_t both_scores = op("add", {by_words, cosines}, {}, sentences, {}, 1);
  const uint32_t best_rows = op("select", {both_scores}, {}, best, {{Attribute::kKind, 2}}, 1);
  const uint32_t rows_of_best = op("expand", {best_rows}, {}, of_best, {}, 1);
  const uint32_t best_ids = op("gather", {ids, rows_of_best}, {}, of_best, {}, 1);
  const uint32_t words = op("embed", {best_ids}, {b.RandomTensor(12, width)}, of_best);
  const uint32_t fronted = op("prepend", {words}, {b.RandomTensor(2, width)}, longest);
  const uint32_t fine = op("attention", {fronted, fronted, fronted}, {}, longest, {{Attribute::kHeads, 2}});
  b.SetOutput(op("pool", {fine}, {}, best));
  b.SetOutput(rows_of_best);
  const uint32_t sound = op("spectrum", {score}, {b.RandomTensor(2, 6), b.RandomTensor(1, 5)}, pixels,
                            {{Attribute::kHop, 2},
                             {Attribute::kBefore, 3},
                             {Attribute::kReflect, 1},
                             {Attribute::kRemoveMean, 1},
                             {Attribute::kPreemphasis, 0.5}},
                            4);
  const auto log = static_cast<double>(Activation::kLog);
  const uint32_t logs =
      op("activate", {sound}, {}, pixels, {{Attribute::kActivation, log}, {Attribute::kFloor, 1e-3}}, 4);
  const uint32_t loud = op("dynamic_range", {logs}, {}, pixels, {{Attribute::kRange, 3}}, 4);
  const uint32_t moved = op("scale", {loud}, {}, pixels, {{Attribute::kScale, 0.5}, {Attribute::kShift, 1}}, 4);
  b.SetOutput(op("standardize", {moved}, {b.RandomTensor(1, 4), b.RandomTensor(1, 4)}, pixels,
                 {{Attribute::kEpsilon, 1e-5}}, 4));
  const uint32_t c =
      op("linear", {d}, {b.RandomTensor(7, width), b.RandomTensor(1, 7)}, documents, {{Attribute::kActivation, 2}}, 7);
  b.SetOutput(u);
  b.SetOutput(op("softmax", {c}, {}, documents, {}, 7));
  tools::BlobContent& content = b.content();
  content.metadata = {{"name", "everything"}, {"label.0", "nothing"}};
  content.text = SectionOf(WordPieceJson());
  // A second program over tensors and spaces of the first. It adds up what it makes.
  tools::BlobProgram second = {"second", {{"x", documents, width, DType::kF32, ValueRole::kInput}}, {}};
  second.values.push_back({"sum", documents, 7, DType::kF32, ValueRole::kCarried, 3});
  second.values.push_back({"y", documents, 7});
  second.values.push_back({"next sum", documents, 7, DType::kF32, ValueRole::kOutput});
  const tools::BlobOperation& linear = content.programs[0].operations[content.programs[0].operations.size() - 2];
  second.operations.push_back({linear.code, "step", 2, {0}, linear.tensors, {}});
  second.operations.push_back({OperationCode("add"), "", 3, {1, 2}, {}, {}});
  content.programs.push_back(second);
  content.packed = PackedOf(TestModel(b.Blob()));
  return content;
}

}  // namespace fovea::test
