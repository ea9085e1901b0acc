// Operations on samples and features of sound.
#include "runtime/blob/attributes.h"
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

void Spectrum(Check& c) {
  if (c.in(0).width != 1) Fail("{} is {} wide, samples are 1 wide", c.in(0).name, c.in(0).width);
  const uint32_t size = c.tensor(0).width;
  c.Shape(0, 2, size);
  c.Vector(1, c.tensor(1).width);
  if (size > kMaxTransform) Fail("a transform of {} numbers is too large", size);
  if (c.tensor(1).width > size) Fail("frames of {} samples need a larger transform than {}", c.tensor(1).width, size);
  const uint32_t hop = c.Number(Attribute::kHop, std::nullopt);
  if (hop == 0 || hop > kMaxRecords) Fail("hop {} is out of range", hop);
  c.Number(Attribute::kBefore);
  c.Flag(Attribute::kReflect);
  c.Flag(Attribute::kPower);
  c.Flag(Attribute::kRemoveMean);
  c.Real(Attribute::kPreemphasis);
  const uint32_t from = c.in(0).space;
  const auto fits = [&](const BlobSpace& s) {
    const bool beside = s.kind == SpaceKind::kFixed && s.parent == c.Parent(from) && &s != &c.spaces()[from];
    return beside || (s.kind == SpaceKind::kStrided && s.source == from && s.first == 0 && s.extra == hop);
  };
  c.Result(
      c.OneSpace(fits, fmt::format("are made of {} by strides of {}, or fixed beside it", c.spaces()[from].name, hop)),
      size / 2 + 1);
}

void Standardize(Check& c) {
  for (size_t i = 0; i < 2; ++i) c.Vector(i, c.in(0).width);
  c.Real(Attribute::kEpsilon);
  c.Result(c.in(0).space, c.in(0).width);
}

void DynamicRange(Check& c) {
  c.Real(Attribute::kRange, true);
  c.Result(c.in(0).space, c.in(0).width);
}

}  // namespace

extern const Rule kSpectrumRule = {1, 1, 2, 2, Spectrum};
extern const Rule kStandardizeRule = {1, 1, 0, 2, Standardize};
extern const Rule kDynamicRangeRule = {1, 1, 0, 0, DynamicRange};

}  // namespace fovea::tools
