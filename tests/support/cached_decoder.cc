#include "tests/support/cached_decoder.h"

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"

namespace fovea::test {
namespace {

constexpr uint32_t kHeads = 4, kKvHeads = 2, kHead = CachedDecoder::kWidth / kHeads, kKvWidth = kKvHeads * kHead;
constexpr uint32_t kWide = 64, kLayers = 2;

struct Layer {
  uint32_t q, k, v, o, up, down;
};

}  // namespace

CachedDecoder::CachedDecoder(const Shape& shape, std::vector<std::pair<std::string, std::string>> metadata)
    : model(Build(shape, std::move(metadata))) {}

AlignedBytes CachedDecoder::Build(const Shape& shape, std::vector<std::pair<std::string, std::string>> metadata) {
  ModelBuilder& b = builder;
  texts = b.Space("texts");
  tokens = b.Space("tokens", texts);
  kept = b.CachedSpace("kept", tokens);
  kept_window = shape.window == 0 ? kept : b.CachedSpace("kept_window", tokens, shape.window);
  const uint32_t table = b.RandomTensor(kVocabulary, kWidth, DType::kF32, 1.0f);
  const uint32_t turns = shape.positions == 0 ? 0 : b.RandomTensor(shape.positions, kHead);
  const uint32_t head = b.RandomTensor(kVocabulary, kWidth);
  const uint32_t mixing = shape.taps == 0 ? 0 : b.RandomTensor(shape.taps, kWidth);
  std::vector<Layer> layers;
  for (uint32_t i = 0; i < kLayers; ++i) {
    layers.push_back({b.RandomTensor(kWidth, kWidth), b.RandomTensor(kKvWidth, kWidth),
                      b.RandomTensor(kKvWidth, kWidth), b.RandomTensor(kWidth, kWidth), b.RandomTensor(kWide, kWidth),
                      b.RandomTensor(kWidth, kWide)});
  }
  for (const bool keeps : {false, true}) {
    if (keeps) b.NextProgram("decode");
    ids = b.Input("ids", tokens, 1, DType::kI32);  // the first value of both
    uint32_t x = b.Op("embed", {ids}, {table}, tokens, kWidth);
    if (shape.taps != 0) {
      const uint32_t rows =
          keeps ? b.Op("append", {x}, {}, kept_window, kWidth, {{Attribute::kType, static_cast<double>(shape.stored)}})
                : x;
      x = b.Op("convolve", {rows}, {mixing}, tokens, kWidth);
    }
    for (uint32_t i = 0; i < kLayers; ++i) {
      const Layer& layer = layers[i];
      const auto linear = [&](uint32_t in, uint32_t weight, uint32_t width, Activation activation = Activation::kNone) {
        return b.Op("linear", {in}, {weight, kBlobNone}, tokens, width,
                    {{Attribute::kActivation, static_cast<double>(activation)}});
      };
      const auto turned = [&](uint32_t in, uint32_t heads) {
        if (shape.positions == 0) return in;
        return b.Op("rotate", {in}, {turns}, tokens, heads * kHead, {{Attribute::kHeads, heads}});
      };
      const bool has_window = shape.window != 0 && (shape.all_windows || i == 1);
      const auto appended = [&](uint32_t in) {
        if (!keeps) return in;
        return b.Op("append", {in}, {}, has_window ? kept_window : kept, kKvWidth,
                    {{Attribute::kType, static_cast<double>(shape.stored)}, {Attribute::kHeads, kKvHeads}});
      };
      const uint32_t q = turned(linear(x, layer.q, kWidth), kHeads);
      const uint32_t k = appended(turned(linear(x, layer.k, kKvWidth), kKvHeads));
      const uint32_t v = appended(linear(x, layer.v, kKvWidth));
      if (i == 0) first_keys = k;
      Attributes attributes = {{Attribute::kHeads, kHeads}, {Attribute::kKvHeads, kKvHeads}, {Attribute::kScale, 0.7}};
      attributes.emplace_back(Attribute::kCausal, 1);
      if (has_window) {
        attributes.emplace_back(Attribute::kPattern, static_cast<double>(PatternKind::kWindow));
        attributes.emplace_back(Attribute::kLeft, shape.window);
        attributes.emplace_back(Attribute::kRight, 0);
      }
      const uint32_t a = b.Op("attention", {q, k, v}, {}, tokens, kWidth, attributes);
      x = b.Op("add", {x, linear(a, layer.o, kWidth)}, {}, tokens, kWidth);
      const uint32_t wide = linear(x, layer.up, kWide, Activation::kSilu);
      x = b.Op("add", {x, linear(wide, layer.down, kWidth)}, {}, tokens, kWidth, {}, "x" + std::to_string(i));
    }
    b.SetOutput(x);
    (keeps ? hidden : whole) = x;
    if (!keeps) continue;
    const uint32_t space = shape.all_scores ? tokens : texts;
    if (!shape.all_scores) {
      x = b.Op("pool", {x}, {}, texts, kWidth, {{Attribute::kKind, static_cast<double>(PoolKind::kLast)}});
    }
    scores = b.Op("linear", {x}, {head, kBlobNone}, space, kVocabulary, {}, "scores");
    b.SetOutput(scores);
  }
  b.content().metadata = std::move(metadata);
  return b.Blob();
}

std::vector<fovea_limit> CachedDecoder::Limits(uint32_t max_texts, uint32_t new_rows, uint32_t kept_rows,
                                               uint32_t longest) const {
  std::vector<fovea_limit> limits = {{texts, max_texts, 0}, {tokens, new_rows, 0}, {kept, kept_rows, longest}};
  if (kept_window != kept) limits.push_back({kept_window, kept_rows, longest});
  return limits;
}

std::vector<float> CachedDecoder::ScoresAfter(const std::vector<int32_t>& text) const {
  const auto rows = static_cast<uint32_t>(text.size());
  const auto limits = Limits(1, rows, rows);
  fovea_session_options options = Options(limits);
  options.program = 1;
  TestSession session(model, options);
  session.SetSegments(tokens, {rows});
  session.SetInput(ids, text);
  session.Run();
  return session.Output(scores);
}

}  // namespace fovea::test
