#include "tests/support/every_operation.h"

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "runtime/blob/op_codes.h"
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
  const auto op = [&](OpCode code, std::vector<uint32_t> in, std::vector<uint32_t> tensors, uint32_t space,
                      const Attributes& attributes = {}, uint32_t to = 32) {
    return b.Op(code, std::move(in), std::move(tensors), space, to, attributes);
  };
  uint32_t x =
      op(OpCode::kEmbed, {ids, types}, {b.RandomTensor(12, width, DType::kI8), b.RandomTensor(2, width, DType::kF16)},
         tokens, {{Attribute::kScale, 2}});
  x = op(OpCode::kPosition, {x}, {b.RandomTensor(9, width)}, tokens, {{Attribute::kOffset, 1}});
  x = op(OpCode::kNorm, {x}, {b.RandomTensor(1, width), b.RandomTensor(1, width)}, tokens,
         {{Attribute::kEpsilon, 1e-6}});
  const uint32_t q = op(OpCode::kRotate, {op(OpCode::kLinear, {x}, {b.RandomTensor(width, width, DType::kI8)}, tokens)},
                        {b.RandomTensor(10, 8)}, tokens, {{Attribute::kHeads, 4}, {Attribute::kInterleaved, 1}});
  const uint32_t k = op(OpCode::kLinear, {x}, {b.RandomTensor(16, width, DType::kI4), kBlobNone}, tokens, {}, 16);
  const uint32_t v =
      op(OpCode::kLinear, {x}, {b.RandomTensor(16, width, DType::kF16), b.RandomTensor(1, 16)}, tokens, {}, 16);
  const Attributes of_two = {{Attribute::kType, 2}, {Attribute::kHeads, 2}};
  const uint32_t narrow_k = op(OpCode::kCast, {k}, {}, tokens, of_two, 16);
  const uint32_t narrow_v = op(OpCode::kCast, {v}, {}, tokens, of_two, 16);
  const uint32_t a =
      b.Op(OpCode::kAttention, {q, narrow_k, narrow_v},
           {b.RandomTensor(4, 5), kBlobNone, kBlobNone, kBlobNone, kBlobNone, b.RandomTensor(4 * 3, 8, DType::kF16),
            b.RandomTensor(4 * 3, 8), b.Tensor(1, 5, {0, 0, 1, 2, 2}, DType::kI32)},
           tokens, width,
           {{Attribute::kHeads, 4}, {Attribute::kKvHeads, 2}, {Attribute::kPattern, 1}, {Attribute::kLeft, 3}}, "self");
  x = op(OpCode::kAdd, {x, a}, {}, tokens);
  x = op(OpCode::kGate, {x, op(OpCode::kActivate, {a}, {}, tokens, {{Attribute::kActivation, 3}})}, {}, tokens,
         {{Attribute::kActivation, 4}});
  const uint32_t routed = op(OpCode::kSlice, {x}, {}, tokens, {{Attribute::kWidth, 3}}, 3);
  const uint32_t of_two_experts = op(OpCode::kExperts, {x, routed}, {b.RandomTensor(3 * width, width, DType::kI8)},
                                     tokens, {{Attribute::kExperts, 3}, {Attribute::kTopK, 2}}, 2 * width);
  x = op(OpCode::kExperts, {of_two_experts, routed}, {b.RandomTensor(3 * width, width), b.RandomTensor(1, 3 * width)},
         tokens, {{Attribute::kKind, 2}, {Attribute::kExperts, 3}, {Attribute::kTopK, 2}});
  const uint32_t score = op(OpCode::kLinear, {x}, {b.RandomTensor(1, width)}, tokens, {}, 1);
  const uint32_t rows = op(OpCode::kSelect, {score}, {}, chosen, {{Attribute::kKind, 2}}, 1);
  const uint32_t taken = op(OpCode::kGather, {x, rows}, {}, chosen);
  const uint32_t seen = op(OpCode::kAttention, {taken, x, x}, {}, chosen, {{Attribute::kHeads, 2}});
  x = op(OpCode::kMerge, {x, seen, rows}, {}, tokens);
  const uint32_t buckets =
      b.Op(OpCode::kHash, {x}, {b.RandomTensor(2 * 2 * (2 + 1), 16)}, tokens, 4,
           {{Attribute::kHeads, 2}, {Attribute::kRounds, 2}, {Attribute::kBuckets, 4}, {Attribute::kMoreBuckets, 2}});
  const uint32_t sorted = op(OpCode::kSort, {buckets}, {}, tokens, {}, 8);
  const uint32_t clustered = op(OpCode::kAttention, {x, x, x, sorted}, {}, tokens,
                                {{Attribute::kHeads, 2},
                                 {Attribute::kRounds, 2},
                                 {Attribute::kChunk, 2},
                                 {Attribute::kChunksBefore, 1},
                                 {Attribute::kSelfScore, -1e5}});
  const uint32_t both = op(OpCode::kConcat, {x, clustered}, {}, tokens, {}, 64);
  x = op(OpCode::kLinear, {both}, {b.RandomTensor(width, 64)}, tokens);
  const uint32_t learned = op(OpCode::kFill, {}, {b.RandomTensor(1, width)}, sentences);
  x = op(OpCode::kBroadcast, {learned, x}, {}, tokens, {{Attribute::kRows, 2}, {Attribute::kCombine, 1}});
  x = op(OpCode::kGate, {score, x}, {}, tokens, {{Attribute::kActivation, 7}});
  x = op(OpCode::kAdd, {op(OpCode::kBroadcast, {learned}, {}, tokens), x}, {}, tokens);
  const uint32_t gates = op(OpCode::kLinear, {x}, {b.RandomTensor(4 * 16, width)}, tokens, {}, 64);
  const uint32_t lstm = op(OpCode::kCell, {gates, x}, {b.RandomTensor(64, 16, DType::kF16)}, tokens,
                           {{Attribute::kCell, 1}, {Attribute::kActivation, 8}});
  const uint32_t part = op(OpCode::kSlice, {gates}, {}, tokens, {{Attribute::kBegin, 10}, {Attribute::kWidth, 48}}, 48);
  const uint32_t hidden = op(OpCode::kSlice, {lstm}, {}, tokens, {{Attribute::kWidth, 16}}, 16);
  const uint32_t gru = op(OpCode::kCell, {part, hidden}, {b.RandomTensor(48, 16), b.RandomTensor(1, 48)}, tokens,
                          {{Attribute::kResetAfter, 0}}, 16);
  x = op(OpCode::kConcat, {gru, hidden}, {}, tokens);
  const uint32_t state =
      op(OpCode::kRecurrent, {gates, learned, score}, {b.RandomTensor(64, 16, DType::kI8)}, tokens,
         {{Attribute::kCell, 1}, {Attribute::kInitial, 1}, {Attribute::kMasked, 1}, {Attribute::kOutput, 1}});
  const uint32_t back = op(OpCode::kRecurrent, {part}, {b.RandomTensor(48, 16), b.RandomTensor(1, 48)}, tokens,
                           {{Attribute::kReverse, 1}, {Attribute::kResetAfter, 0}}, 16);
  x = op(OpCode::kConcat, {op(OpCode::kSlice, {x}, {}, tokens, {{Attribute::kWidth, 16}}, 16), back}, {}, tokens);
  x = op(OpCode::kAdd, {x, state}, {}, tokens);
  const uint32_t wide = op(OpCode::kUnfold, {x}, {}, half, {{Attribute::kBefore, 1}}, 64);
  const uint32_t halved = op(OpCode::kLinear, {wide}, {b.RandomTensor(width, 64, DType::kI8)}, half);
  const uint32_t most = op(OpCode::kPool, {x}, {}, half, {{Attribute::kKind, 3}});
  const uint32_t far = op(OpCode::kAttention, {most, x, x}, {b.RandomTensor(2, 7)}, half,
                          {{Attribute::kHeads, 2}, {Attribute::kQueryStride, 2}, {Attribute::kApart, 1}});
  const uint32_t mixed = op(OpCode::kConvolve, {op(OpCode::kUpsample, {far}, {}, tokens)},
                            {b.RandomTensor(3, width), b.RandomTensor(1, width)}, tokens, {{Attribute::kAfter, 1}});
  b.SetOutput(mixed);
  b.SetOutput(op(OpCode::kPool, {op(OpCode::kAdd, {halved, most}, {}, half)}, {}, sentences, {{Attribute::kKind, 2}}));
  const uint32_t patch =
      op(OpCode::kArrange, {pixel}, {b.Tensor(2, 4, {0, 1, -1, 3, 2, 0, 1, 2}, DType::kI32)}, patches);
  b.SetOutput(op(OpCode::kArrange, {patch}, {b.Tensor(4, 1, {1, 0, -1, 1}, DType::kI32)}, pixels));
  b.SetOutput(op(OpCode::kArrange, {pixel}, {b.Tensor(6, 4, std::vector<float>(24, 3), DType::kI32)}, cells));
  const uint32_t blend =
      op(OpCode::kArrange, {pixel}, {b.Tensor(2, 2, {0, 1, -1, 3}, DType::kI32), b.RandomTensor(2, 2)}, patches, {}, 8);
  b.SetOutput(
      op(OpCode::kConvolve, {blend},
         {b.RandomTensor(3, 8), kBlobNone, b.Tensor(4, 3, {1, -1, 0, 1, 1, 1, -1, -1, -1, 0, 0, 1}, DType::kI32)},
         pixels, {}, 8));
  const uint32_t places = op(OpCode::kSlice, {x}, {}, tokens, {{Attribute::kWidth, 2}}, 2);
  x = op(OpCode::kAttention, {x, x, x, places}, {b.RandomTensor(4, 5)}, tokens,
         {{Attribute::kHeads, 2}, {Attribute::kAxes, 2}, {Attribute::kRowCoordinates, 1}});
  b.SetOutput(op(OpCode::kReceived, {x, x, x}, {}, tokens, {{Attribute::kHeads, 4}, {Attribute::kCausal, 1}}, 4));
  b.SetOutput(op(OpCode::kPrepend, {x, patch}, {}, longer));
  const uint32_t y = op(OpCode::kPrepend, {x}, {b.RandomTensor(2, width)}, longer);
  const uint32_t half_y = op(OpCode::kCast, {y}, {}, longer, {{Attribute::kType, 5}});
  b.SetOutput(half_y);
  const uint32_t cross = op(OpCode::kAttention, {other, half_y, half_y}, {}, others, {{Attribute::kHeads, 2}});
  const uint32_t s = op(OpCode::kPool, {cross}, {}, sentences, {{Attribute::kKind, 4}});
  const uint32_t t = op(OpCode::kAttention, {s, y, y}, {}, sentences, {{Attribute::kHeads, 1}});
  const uint32_t near =
      op(OpCode::kAttention, {s, y, y, op(OpCode::kLinear, {s}, {b.RandomTensor(1, width)}, sentences, {}, 1)}, {},
         sentences,
         {{Attribute::kHeads, 2},
          {Attribute::kPattern, 1},
          {Attribute::kLeft, 2},
          {Attribute::kRight, 2},
          {Attribute::kCenters, 2},
          {Attribute::kGaussian, 1}});
  b.SetOutput(near);
  const uint32_t n = op(OpCode::kNorm, {t}, {b.RandomTensor(1, width)}, sentences,
                        {{Attribute::kKind, 1}, {Attribute::kWeightOffset, 1}});
  const uint32_t u = op(OpCode::kNormalize, {n}, {}, sentences, {{Attribute::kClamp, 1}, {Attribute::kEpsilon, 1e-12}});
  const uint32_t d = op(OpCode::kPool, {op(OpCode::kScale, {u}, {}, sentences, {{Attribute::kScale, 0.5}})}, {},
                        documents, {{Attribute::kKind, 3}});
  const uint32_t by_words =
      op(OpCode::kLexical, {ids, query}, {b.RandomTensor(1, 12)}, sentences, {{Attribute::kB, 0.5}}, 1);
  const uint32_t cosines = op(OpCode::kLexical, {ids, query}, {}, sentences, {{Attribute::kKind, 1}}, 1);
  const uint32_t both_scores = op(OpCode::kAdd, {by_words, cosines}, {}, sentences, {}, 1);
  const uint32_t best_rows = op(OpCode::kSelect, {both_scores}, {}, best, {{Attribute::kKind, 2}}, 1);
  const uint32_t rows_of_best = op(OpCode::kExpand, {best_rows}, {}, of_best, {}, 1);
  const uint32_t best_ids = op(OpCode::kGather, {ids, rows_of_best}, {}, of_best, {}, 1);
  const uint32_t words = op(OpCode::kEmbed, {best_ids}, {b.RandomTensor(12, width)}, of_best);
  const uint32_t fronted = op(OpCode::kPrepend, {words}, {b.RandomTensor(2, width)}, longest);
  const uint32_t fine = op(OpCode::kAttention, {fronted, fronted, fronted}, {}, longest, {{Attribute::kHeads, 2}});
  b.SetOutput(op(OpCode::kPool, {fine}, {}, best));
  b.SetOutput(rows_of_best);
  const uint32_t sound = op(OpCode::kSpectrum, {score}, {b.RandomTensor(2, 6), b.RandomTensor(1, 5)}, pixels,
                            {{Attribute::kHop, 2},
                             {Attribute::kBefore, 3},
                             {Attribute::kReflect, 1},
                             {Attribute::kRemoveMean, 1},
                             {Attribute::kPreemphasis, 0.5}},
                            4);
  const auto log = static_cast<double>(Activation::kLog);
  const uint32_t logs =
      op(OpCode::kActivate, {sound}, {}, pixels, {{Attribute::kActivation, log}, {Attribute::kFloor, 1e-3}}, 4);
  const uint32_t loud = op(OpCode::kDynamicRange, {logs}, {}, pixels, {{Attribute::kRange, 3}}, 4);
  const uint32_t moved = op(OpCode::kScale, {loud}, {}, pixels, {{Attribute::kScale, 0.5}, {Attribute::kShift, 1}}, 4);
  b.SetOutput(op(OpCode::kStandardize, {moved}, {b.RandomTensor(1, 4), b.RandomTensor(1, 4)}, pixels,
                 {{Attribute::kEpsilon, 1e-5}}, 4));
  const uint32_t c = op(OpCode::kLinear, {d}, {b.RandomTensor(7, width), b.RandomTensor(1, 7)}, documents,
                        {{Attribute::kActivation, 2}}, 7);
  b.SetOutput(u);
  b.SetOutput(op(OpCode::kSoftmax, {c}, {}, documents, {}, 7));
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
  second.operations.push_back({static_cast<uint32_t>(OpCode::kAdd), "", 3, {1, 2}, {}, {}});
  content.programs.push_back(second);
  content.packed = PackedOf(TestModel(b.Blob()));
  return content;
}

}  // namespace fovea::test
