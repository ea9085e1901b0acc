#include "tests/support/two_levels.h"

#include "runtime/blob/attributes.h"

namespace fovea::test {

uint32_t EncoderLayer(ModelBuilder& b, uint32_t x, uint32_t space, DType type, const EncoderSize& size) {
  const auto linear = [&](uint32_t of, uint32_t from, uint32_t to, uint32_t activation = 0) {
    return b.Op("linear", {of}, {b.RandomTensor(to, from, type), b.RandomTensor(1, to)}, space, to,
                {{Attribute::kActivation, activation}});
  };
  const auto norm = [&](uint32_t of) {
    return b.Op("norm", {of}, {}, space, size.width, {{Attribute::kEpsilon, 1e-6}});
  };
  const uint32_t q = linear(x, size.width, size.width), k = linear(x, size.width, size.width);
  const uint32_t v = linear(x, size.width, size.width);
  const uint32_t a = b.Op("attention", {q, k, v}, {}, space, size.width, {{Attribute::kHeads, size.heads}});
  x = norm(b.Op("add", {x, linear(a, size.width, size.width)}, {}, space, size.width));
  const uint32_t f = linear(linear(x, size.width, size.ffn, 2), size.ffn, size.width);
  return norm(b.Op("add", {x, f}, {}, space, size.width));
}

TwoLevels BuildTwoLevels(ModelBuilder& b, DType type, const EncoderSize& size, uint32_t vocabulary) {
  TwoLevels t{};
  t.documents = b.Space("documents");
  t.sentences = b.Space("sentences", t.documents);
  t.tokens = b.Space("tokens", t.sentences);
  t.ids = b.Input("ids", t.tokens, 1, DType::kI32);
  uint32_t x = b.Op("embed", {t.ids}, {b.RandomTensor(vocabulary, size.width, type)}, t.tokens, size.width);
  for (uint32_t layer = 0; layer < 2; ++layer) x = EncoderLayer(b, x, t.tokens, type, size);
  const uint32_t s = b.Op("pool", {x}, {}, t.sentences, size.width, {{Attribute::kKind, 2}});
  const uint32_t y = EncoderLayer(b, s, t.sentences, type, size);
  t.vectors = b.Op("pool", {y}, {}, t.documents, size.width, {{Attribute::kKind, 2}});
  b.SetOutput(t.vectors);
  return t;
}

}  // namespace fovea::test
