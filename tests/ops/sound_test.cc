// From samples to features: spectra against the transform's definition, and operations on whole segments.
#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/ops/op_fixture.h"

namespace fovea::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Parameters of a spectrum.
struct Frames {
  uint32_t size, length, hop, before = 0;
  bool reflect = false, power = false, remove_mean = false;
  double preemphasis = 0;
  uint32_t fixed = 0;  // frames of every segment; 0: a strided space
  uint32_t last = 0;   // `last` of the strided space

  Attributes attributes() const {
    Attributes list = {{Attribute::kHop, hop}};
    if (before != 0) list.push_back({Attribute::kBefore, before});
    if (reflect) list.push_back({Attribute::kReflect, 1});
    if (power) list.push_back({Attribute::kPower, 1});
    if (remove_mean) list.push_back({Attribute::kRemoveMean, 1});
    if (preemphasis != 0) list.push_back({Attribute::kPreemphasis, preemphasis});
    return list;
  }
  uint32_t Count(uint32_t samples) const {
    if (fixed != 0) return fixed;
    const uint32_t used = samples > 1 ? (samples - 1 > last ? samples - last : 1) : samples;
    return (used + hop - 1) / hop;
  }
};

std::vector<float> RootsOf(uint32_t size) {
  std::vector<float> roots;
  for (const double shift : {0.25, 0.0}) {
    for (uint32_t i = 0; i < size; ++i) {
      roots.push_back(static_cast<float>(std::sin(2 * kPi * (static_cast<double>(i) / size + shift))));
    }
  }
  return roots;
}

// The segment as a list that is padded for the frames, then cut, without mapped indices.
std::vector<double> Padded(const Frames& frames, std::vector<double> x, int64_t* origin) {
  if (frames.reflect && frames.fixed != 0) x.resize(size_t{frames.fixed} * frames.hop);
  const size_t around = frames.before + frames.length + size_t{frames.hop} * (frames.fixed + x.size() / frames.hop + 1);
  std::vector<double> all(x.begin(), x.end());
  *origin = 0;
  if (!frames.reflect) {
    all.insert(all.begin(), around, 0.0);
    *origin = static_cast<int64_t>(around);
    all.insert(all.end(), around, 0.0);
    return all;
  }
  // Mirrored piece by piece: an appended piece is mirrored in turn.
  while (static_cast<size_t>(*origin) < around) {
    std::vector<double> mirrored(x.rbegin(), x.rend());
    if (x.size() > 1) mirrored.pop_back();
    std::vector<double> once = x.size() > 1 ? std::vector<double>(x.begin() + 1, x.end()) : x;
    std::vector<double> after(x.rbegin() + (x.size() > 1 ? 1 : 0), x.rend());
    all.insert(all.begin(), mirrored.begin(), mirrored.end());
    all.insert(all.end(), after.begin(), after.end());
    *origin += static_cast<int64_t>(mirrored.size());
    // Mirrored back, to return to x.
    std::vector<double> forward(x.begin(), x.end() - (x.size() > 1 ? 1 : 0));
    all.insert(all.begin(), forward.begin(), forward.end());
    all.insert(all.end(), once.begin(), once.end());
    *origin += static_cast<int64_t>(forward.size());
  }
  return all;
}

std::vector<double> Spectra(const Frames& frames, const std::vector<float>& window, const std::vector<float>& xs,
                            const Lengths& lengths) {
  std::vector<double> all;
  size_t first = 0;
  for (const uint32_t length : lengths) {
    int64_t origin = 0;
    std::vector<double> x(xs.begin() + static_cast<ptrdiff_t>(first),
                          xs.begin() + static_cast<ptrdiff_t>(first + length));
    first += length;
    const uint32_t count = frames.Count(length);
    if (count == 0) continue;
    const std::vector<double> line = Padded(frames, x, &origin);
    for (uint32_t t = 0; t < count; ++t) {
      std::vector<double> frame;
      for (uint32_t i = 0; i < frames.length; ++i) {
        frame.push_back(line.at(static_cast<size_t>(origin + int64_t{t} * frames.hop + i - frames.before)));
      }
      double mean = 0;
      for (const double v : frame) mean += v / frames.length;
      for (double& v : frame) v -= frames.remove_mean ? mean : 0;
      std::vector<double> flat = frame;
      for (uint32_t i = 0; i < frames.length; ++i) {
        frame[i] = (flat[i] - static_cast<float>(frames.preemphasis) * flat[i == 0 ? 0 : i - 1]) * window[i];
      }
      for (uint32_t k = 0; k <= frames.size / 2; ++k) {
        double re = 0, im = 0;
        for (uint32_t i = 0; i < frames.length; ++i) {
          re += frame[i] * std::cos(2 * kPi * k * i / frames.size);
          im += frame[i] * std::sin(2 * kPi * k * i / frames.size);
        }
        all.push_back(frames.power ? re * re + im * im : std::hypot(re, im));
      }
    }
  }
  return all;
}

void ExpectSpectra(const Frames& frames, const Lengths& lengths, const std::string& what) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t to = frames.fixed != 0
                          ? b.FixedSpace("frames", s.texts, frames.fixed)
                          : b.StridedSpace("frames", s.tokens, frames.hop, 0, static_cast<uint16_t>(frames.last));
  const std::vector<float> window = b.RandomFloats(frames.length), xs = b.RandomFloats(Total(lengths));
  const uint32_t x = b.Input("x", s.tokens, 1);
  const uint32_t y =
      b.Op("spectrum", {x}, {b.Tensor(2, frames.size, RootsOf(frames.size)), b.Tensor(1, frames.length, window)}, to,
           frames.size / 2 + 1, frames.attributes());
  ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y), Spectra(frames, window, xs, lengths), 1e-6, 1e-6,
              what);
}

const Lengths kSounds = {0, 1, 5, 0, 16, 61, 2, 130};

TEST(Spectrum, OfStridedFrames) {
  ExpectSpectra({16, 16, 5}, kSounds, "plain");
  ExpectSpectra({16, 16, 5, 8}, kSounds, "centred");
  ExpectSpectra({25, 10, 4, 3}, kSounds, "odd, shorter frames");
  ExpectSpectra({16, 12, 5, 0, false, true, false, 0, 0, 11}, kSounds, "whole frames only, powers");
  ExpectSpectra({16, 12, 5, 0, false, true, true, 0.97, 0, 11}, kSounds, "without mean, emphasized");
  ExpectSpectra({22, 22, 7, 11, true, true}, kSounds, "mirrored");
  ExpectSpectra({3, 2, 2, 1, true}, kSounds, "tiny");
}

TEST(Spectrum, OfFixedFrames) {
  ExpectSpectra({16, 16, 5, 0, false, false, false, 0, 9}, kSounds, "plain");
  ExpectSpectra({16, 16, 5, 8, true, true, false, 0, 9}, kSounds, "mirrored after 45 samples");
  ExpectSpectra({30, 30, 4, 15, true, false, true, 0.5, 3}, kSounds, "mirrored several times");
  ExpectSpectra({16, 16, 100, 40, false, true, false, 0, 4}, kSounds, "far apart");
}

TEST(Spectrum, OfNothing) {
  ExpectSpectra({16, 16, 5}, {}, "no segments");
  ExpectSpectra({16, 16, 5, 8, true}, {0, 0}, "empty segments");
  ExpectSpectra({16, 16, 5, 8, true, true, false, 0, 3}, {0, 0}, "frames of nothing");
}

// A root space is one segment.
TEST(Spectrum, OfARoot) {
  ModelBuilder b;
  const uint32_t root = b.Space("root"), frames = b.StridedSpace("frames", root, 4);
  const uint32_t x = b.Input("x", root, 1);
  const std::vector<float> ones(4, 1.0f), xs = b.RandomFloats(13);
  const uint32_t y =
      b.Op("spectrum", {x}, {b.Tensor(2, 4, RootsOf(4)), b.Tensor(1, 4, ones)}, frames, 3, {{Attribute::kHop, 4}});
  ExpectClose(RunTiled(b, {{{root, {13}}}, {{x, xs}}, {}}, y), Spectra({4, 4, 4}, ones, xs, {13}), 1e-6, 1e-6);
}

TEST(Spectrum, ShapeRules) {
  enum To { kStrided, kFixed, kSame, kOther, kKept, kElsewhere, kApart };
  struct Try {
    const char* what;
    fovea_status status;
    To to = kStrided;
    uint32_t size = 16, length = 12, width = 9, samples = 1, root_rows = 2;
    Attributes attributes = {{Attribute::kHop, 5}};
    DType type = DType::kF32;
  };
  std::vector<Try> tries = {{"fine", FOVEA_OK}, {"fixed", FOVEA_OK, kFixed}};
  const auto refuse = [&](const char* what, fovea_status status, const auto& change) {
    Try t = {what, status};
    change(t);
    tries.push_back(t);
  };
  refuse("frame longer than transform", FOVEA_E_SHAPE, [](Try& t) { t.length = 17; });
  refuse("no hop", FOVEA_E_SHAPE, [](Try& t) { t.attributes = {}; });
  refuse("hop 0", FOVEA_E_SHAPE, [](Try& t) { t.attributes = {{Attribute::kHop, 0}}, t.to = kFixed; });
  refuse("hop too large", FOVEA_E_SHAPE, [](Try& t) {
    t.attributes = {{Attribute::kHop, 4294967295.0}}, t.to = kFixed;
  });
  refuse("another hop", FOVEA_E_SHAPE, [](Try& t) { t.attributes = {{Attribute::kHop, 4}}; });
  refuse("narrow", FOVEA_E_SHAPE, [](Try& t) { t.width = 8; });
  refuse("wide", FOVEA_E_SHAPE, [](Try& t) { t.width = 16; });
  refuse("large", FOVEA_E_SHAPE, [](Try& t) { t.size = 16385, t.width = 8193; });
  refuse("two numbers a sample", FOVEA_E_SHAPE, [](Try& t) { t.samples = 2; });
  refuse("ids", FOVEA_E_SHAPE, [](Try& t) { t.type = DType::kI32; });
  refuse("cosines only", FOVEA_E_SHAPE, [](Try& t) { t.root_rows = 1; });
  refuse("same space", FOVEA_E_SHAPE, [](Try& t) { t.to = kSame; });
  refuse("caller's frames", FOVEA_E_SHAPE, [](Try& t) { t.to = kOther; });
  refuse("selected rows", FOVEA_E_SHAPE, [](Try& t) { t.to = kKept; });
  refuse("of other parents", FOVEA_E_SHAPE, [](Try& t) { t.to = kElsewhere; });
  refuse("of another source", FOVEA_E_SHAPE, [](Try& t) { t.to = kApart; });
  refuse("attribute", FOVEA_E_OP, [](Try& t) { t.attributes.push_back({Attribute::kAfter, 1}); });
  for (const Try& t : tries) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t other = b.Space("other", s.texts);
    const uint32_t spaces[] = {b.StridedSpace("strided", s.tokens, 5),
                               b.FixedSpace("fixed", s.texts, 3),
                               s.tokens,
                               other,
                               b.StridedSpace("kept", s.tokens, 5, 1),
                               b.FixedSpace("elsewhere", s.tokens, 3),
                               b.StridedSpace("apart", other, 5)};
    const uint32_t x = b.Input("x", s.tokens, t.samples, t.type);
    b.Op("spectrum", {x}, {b.RandomTensor(t.root_rows, t.size), b.RandomTensor(1, t.length)}, spaces[t.to], t.width,
         t.attributes);
    ExpectStatus(b, t.status, t.what);
  }
}

TEST(Standardize, ColumnsOfSegments) {
  for (const uint32_t width : {1u, 3u, 16u, 37u}) {
    for (const bool affine : {false, true}) {
      const Lengths lengths = {0, 1, 7, 0, 130, 2};
      ModelBuilder b;
      const TextSpaces s(b);
      const uint32_t x = b.Input("x", s.tokens, width);
      const std::vector<float> weight = b.RandomFloats(width), bias = b.RandomFloats(width);
      std::vector<uint32_t> tensors;
      if (affine) tensors = {b.Tensor(1, width, weight), b.Tensor(1, width, bias)};
      const uint32_t y = b.Op("standardize", {x}, tensors, s.tokens, width, {{Attribute::kEpsilon, 1e-3}});
      std::vector<float> xs = b.RandomFloats(size_t{Total(lengths)} * width);
      for (float& v : xs) v += 3;
      std::vector<double> expected(xs.size());
      size_t first = 0;
      for (const uint32_t length : lengths) {
        for (uint32_t c = 0; c < width; ++c) {
          double mean = 0, variance = 0;
          for (size_t r = first; r < first + length; ++r)
            mean += xs[r * width + c] / double{static_cast<double>(length)};
          for (size_t r = first; r < first + length; ++r) {
            variance += (xs[r * width + c] - mean) * (xs[r * width + c] - mean) / static_cast<double>(length);
          }
          for (size_t r = first; r < first + length; ++r) {
            const double v = (xs[r * width + c] - mean) / std::sqrt(variance + 1e-3f);
            expected[r * width + c] = affine ? v * weight[c] + bias[c] : v;
          }
        }
        first += length;
      }
      ExpectClose(RunTiled(b, {{{s.tokens, lengths}}, {{x, xs}}, {}}, y), expected, 2e-6, 0);
    }
  }
}

// A hundred thousand samples with an offset; and a constant signal.
TEST(Standardize, LongSegmentsAndConstantOnes) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 1), y = b.Op("standardize", {x}, {}, s.tokens, 1);
  const uint32_t count = 100000;
  std::vector<float> xs = b.RandomFloats(count);
  double mean = 0, variance = 0;
  for (float& v : xs) mean += (v += 100) / count;
  for (const float v : xs) variance += (v - mean) * (v - mean) / count;
  std::vector<double> expected;
  for (const float v : xs) expected.push_back((v - mean) / std::sqrt(variance));
  xs.insert(xs.end(), 5, 0.3f);
  expected.insert(expected.end(), 5, 0.0);
  b.SetOutput(y);
  const Feed feed = {{{s.tokens, {count, 5}}}, {{x, xs}}, {}};
  ExpectClose(RunWith(TestModel(b.Blob()), Options(LimitsOf(b, feed)), feed, y), expected, 2e-6, 0);
}

TEST(DynamicRange, IsThatOfASegment) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 2);
  const uint32_t y = b.Op("dynamic_range", {x}, {}, s.tokens, 2, {{Attribute::kRange, 3}});
  ExpectClose(RunTiled(b, {{{s.tokens, {2, 0, 1, 3}}}, {{x, {1, 5, -9, 2, -7, -9, 0, 0, 8, 6, 4, 5.5}}}, {}}, y),
              {2, 5, 2, 2, -7, -9, 5, 5, 8, 6, 5, 5.5}, 0, 0);
}

TEST(Elementwise, FloorsAndShifts) {
  ModelBuilder b;
  const TextSpaces s(b);
  const uint32_t x = b.Input("x", s.tokens, 3);
  const auto log = static_cast<double>(Activation::kLog);
  const uint32_t y = b.Op("activate", {x}, {}, s.tokens, 3, {{Attribute::kActivation, log}, {Attribute::kFloor, 1e-3}});
  const uint32_t z = b.Op("scale", {y}, {}, s.tokens, 3, {{Attribute::kScale, 0.5}, {Attribute::kShift, 2}});
  const std::vector<float> xs = {0, -4, 1, 10, 1e-3f, 1e-4f};
  std::vector<double> expected;
  for (const float v : xs) expected.push_back(0.5 * std::log(std::max(v, 1e-3f)) + 2);
  ExpectClose(RunTiled(b, {{{s.tokens, {2}}}, {{x, xs}}, {}}, z), expected, 1e-6, 0);
}

TEST(Sound, ShapeRulesOfWholeSegments) {
  const auto rule = [](const char* what, fovea_status status, std::string_view op, const Attributes& attributes,
                       uint32_t width = 4, uint32_t weight = 0, DType type = DType::kF32) {
    ModelBuilder b;
    const TextSpaces s(b);
    const uint32_t x = b.Input("x", s.tokens, 4, type);
    std::vector<uint32_t> tensors;
    if (weight != 0) tensors = {b.RandomTensor(1, weight)};
    b.Op(op, {x}, tensors, s.tokens, width, attributes);
    ExpectStatus(b, status, what);
  };
  rule("fine", FOVEA_OK, "standardize", {});
  rule("weight", FOVEA_OK, "standardize", {}, 4, 4);
  rule("weight", FOVEA_E_SHAPE, "standardize", {}, 4, 3);
  rule("width", FOVEA_E_SHAPE, "standardize", {}, 5);
  rule("ids", FOVEA_E_SHAPE, "standardize", {}, 4, 0, DType::kI32);
  rule("fine", FOVEA_OK, "dynamic_range", {{Attribute::kRange, 0}});
  rule("no range", FOVEA_E_SHAPE, "dynamic_range", {});
  rule("negative", FOVEA_E_SHAPE, "dynamic_range", {{Attribute::kRange, -1}});
  rule("no number", FOVEA_E_RECORD, "dynamic_range", {{Attribute::kRange, NAN}});
  rule("width", FOVEA_E_SHAPE, "dynamic_range", {{Attribute::kRange, 1}}, 5);
}

}  // namespace
}  // namespace fovea::test
