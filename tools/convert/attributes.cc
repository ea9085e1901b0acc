#include "tools/convert/attributes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/names.h"
#include "runtime/blob/op_names.h"
#include "runtime/ops/op.h"
#include "tools/base/fail.h"
#include "tools/base/half.h"

namespace fovea::tools {
namespace {

template <typename Enum>
uint32_t NumberNamed(const char* key, const Json& value) {
  std::vector<const char*> names;
  for (const Named<Enum>& member : NamesOf<Enum>::list) {
    names.push_back(member.name);
    if (value == member.name) return static_cast<uint32_t>(member.number);
  }
  Fail("{} must be one of {}, not {}", key, fmt::join(names, ", "), value.dump());
}

uint32_t KindNamed(OpCode code, const char* key, const Json& value) {
  switch (code) {
    case OpCode::kNorm:
      return NumberNamed<NormKind>(key, value);
    case OpCode::kPool:
      return NumberNamed<PoolKind>(key, value);
    case OpCode::kSelect:
      return NumberNamed<SelectKind>(key, value);
    case OpCode::kLexical:
      return NumberNamed<LexicalKind>(key, value);
    case OpCode::kExperts:
      return NumberNamed<ExpertsKind>(key, value);
    default:
      Fail("{} has no attribute kind", NameOf(code));
  }
}

uint32_t MemberNamed(OpCode code, Attribute attribute, const Json& value) {
  const char* const key = NameOf(attribute);
  switch (attribute) {
    case Attribute::kKind:
      return KindNamed(code, key, value);
    case Attribute::kActivation:
      return NumberNamed<Activation>(key, value);
    case Attribute::kPattern:
      return NumberNamed<PatternKind>(key, value);
    case Attribute::kClamp:
      return NumberNamed<NormClamp>(key, value);
    case Attribute::kScore:
      return NumberNamed<Score>(key, value);
    case Attribute::kType:
      return NumberNamed<DType>(key, value);
    case Attribute::kCell:
      return NumberNamed<CellKind>(key, value);
    case Attribute::kOutput:
      return NumberNamed<CellOutput>(key, value);
    case Attribute::kCenters:
      return NumberNamed<Centers>(key, value);
    case Attribute::kRows:
      return NumberNamed<BroadcastRows>(key, value);
    case Attribute::kCombine:
      return NumberNamed<BroadcastCombine>(key, value);
    case Attribute::kProducts:
      return NumberNamed<Products>(key, value);
    case Attribute::kOrigin:
      return NumberNamed<Origin>(key, value);
    default:
      Fail("{} cannot be given by name", key);
  }
}

uint32_t BitsFor(OpCode code, Attribute attribute, const Json& value) {
  const char* const key = NameOf(attribute);
  switch (TypeOf(attribute)) {
    case AttributeType::kU32:
      return static_cast<uint32_t>(WholeNumber(value, key));
    case AttributeType::kF32:
      return BitsOf(static_cast<float>(RealNumber(value, key)));
    case AttributeType::kFlag:
      return TrueOrFalse(value, key) ? 1 : 0;
    case AttributeType::kEnum:
      return MemberNamed(code, attribute, value);
  }
  return 0;
}

// A description must name these. For most of them a blob has a default, but none that a reader of a description would
// expect. Lowering refuses the rest when they are absent (type, width, buckets, hop, experts, top_k, range), but its
// message is about the value that it reads instead; here the message names the attribute.
constexpr struct {
  OpCode code;
  Attribute attribute;
} kAlwaysNamed[] = {
    {OpCode::kAttention, Attribute::kHeads},    {OpCode::kReceived, Attribute::kHeads},
    {OpCode::kNorm, Attribute::kEpsilon},       {OpCode::kNormalize, Attribute::kEpsilon},
    {OpCode::kPool, Attribute::kKind},          {OpCode::kSelect, Attribute::kKind},
    {OpCode::kScale, Attribute::kScale},        {OpCode::kActivate, Attribute::kActivation},
    {OpCode::kGate, Attribute::kActivation},    {OpCode::kRecurrent, Attribute::kCell},
    {OpCode::kCell, Attribute::kCell},          {OpCode::kCast, Attribute::kType},
    {OpCode::kSlice, Attribute::kWidth},        {OpCode::kRotate, Attribute::kHeads},
    {OpCode::kHash, Attribute::kBuckets},       {OpCode::kSpectrum, Attribute::kHop},
    {OpCode::kExperts, Attribute::kExperts},    {OpCode::kExperts, Attribute::kTopK},
    {OpCode::kDynamicRange, Attribute::kRange},
};

}  // namespace

std::vector<AttributeRecord> ReadAttributes(OpCode code, const Json& attributes) {
  const AttributeList& known = FindOp(static_cast<uint32_t>(code))->attributes;
  for (const auto& given : attributes.items()) {
    const auto is_it = [&](Attribute key) { return given.key() == NameOf(key); };
    if (std::any_of(known.keys, known.keys + known.count, is_it)) continue;
    Fail("{} has no attribute {}", NameOf(code), given.key());
  }
  std::vector<AttributeRecord> records;
  for (const Named<Attribute>& attribute : NamesOf<Attribute>::list) {
    const auto found = attributes.find(attribute.name);
    const auto is_it = [&](const auto& named) { return named.code == code && named.attribute == attribute.number; };
    if (found != attributes.end()) {
      records.push_back({static_cast<uint32_t>(attribute.number), BitsFor(code, attribute.number, *found)});
    } else if (std::any_of(std::begin(kAlwaysNamed), std::end(kAlwaysNamed), is_it)) {
      Fail("{} is missing", attribute.name);
    }
  }
  if (attributes.value("kind", "") == NameOf(SelectKind::kThreshold) && attributes.count("threshold") == 0) {
    Fail("threshold is missing");
  }
  return records;
}

}  // namespace fovea::tools
