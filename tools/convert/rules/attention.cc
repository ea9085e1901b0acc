// Attention, and what its keys and values and clustered patterns need before it.
#include <algorithm>

#include "runtime/blob/attributes.h"
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

struct Heads {
  uint32_t of_queries, of_keys;
};

// What attention and `received` have in common: all but the result.
Heads CheckAttention(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, std::nullopt);
  const uint32_t kv_heads = c.Number(Attribute::kKvHeads, heads);
  if (heads == 0 || kv_heads == 0 || heads % kv_heads != 0) Fail("{} heads cannot share {} kv_heads", heads, kv_heads);
  const BlobValue &q = c.in(0), &k = c.in(1), &v = c.in(2);
  c.SameSpace(1, 2);
  if (q.width % heads != 0) Fail("{} is {} wide, which is not {} heads", q.name, q.width, heads);
  if (uint64_t{k.width} * heads != uint64_t{q.width} * kv_heads) {
    Fail("keys of {} heads, {} wide, do not fit queries of {} heads, {} wide", kv_heads, k.width, heads, q.width);
  }
  if (k.type != v.type) Fail("{} and {} are of different types", k.name, v.name);
  if (v.width % kv_heads != 0) Fail("{} is {} wide, which is not {} heads", v.name, v.width, kv_heads);
  const bool paired = q.space == k.space || (c.Parent(q.space) == c.Parent(k.space) && c.Parent(k.space) != kBlobNone);
  uint32_t above = c.Parent(q.space);  // the keys may be those of a row further up
  while (above != kBlobNone && above != c.Parent(k.space)) above = c.Parent(above);
  if (!paired && above == kBlobNone && q.space != c.Parent(k.space)) {
    Fail("space {} of the queries is neither beside space {} of the keys nor below its parent nor its parent",
         c.spaces()[q.space].name, c.spaces()[k.space].name);
  }
  const uint32_t axes = c.Number(Attribute::kAxes, 1);
  if (c.Has(0) && (c.tensor(0).rows != uint64_t{axes} * heads || c.tensor(0).width % 2 == 0)) {
    Fail("tensor {} is [{}, {}], [{}, an odd number] is needed", c.tensor(0).name, c.tensor(0).rows, c.tensor(0).width,
         uint64_t{axes} * heads);
  }
  for (const size_t by_head : {8, 9}) {
    if (c.Has(by_head)) c.Shape(by_head, 1, heads);
  }
#define FOVEA_NUMBER(part, field, Name, least, most) c.Number(Attribute::k##Name);
#define FOVEA_REAL(part, field, Name) c.Real(Attribute::k##Name);
#define FOVEA_FLAG(part, field, Name) c.Flag(Attribute::k##Name);
#define FOVEA_CHOICE(part, field, Name, Enum) c.Choice<Enum>(Attribute::k##Name, Enum(0));
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
  c.Real(Attribute::kScale);
  c.Flag(Attribute::kLayoutByHead);
  const Products products = c.Choice<Products>(Attribute::kProducts, Products::kF32);
  if (products != Products::kF32 && c.Choice<Score>(Attribute::kScore, Score::kDot) != Score::kDot) {
    Fail("products in {} go with the dot score only", NameOf(products));
  }
  if (c.Choice<PatternKind>(Attribute::kPattern, PatternKind::kFull) == PatternKind::kWindow) {
    c.Number(Attribute::kLeft);
    c.Number(Attribute::kRight);
  }
  const bool centered = c.Choice<Centers>(Attribute::kCenters, Centers::kNone) != Centers::kNone;
  const uint32_t pairs = c.Number(Attribute::kPairBias, 0);
  size_t inputs = 3;  // and those that attributes announce
  for (const Attribute key : {Attribute::kKeyBias, Attribute::kGlobalKeys}) inputs += c.Flag(key) ? 1 : 0;
  inputs += c.Number(Attribute::kRounds, 0) != 0 ? 1 : 0;
  inputs += centered ? 1 : 0;
  const size_t centers_at = inputs - 1;
  inputs += pairs != 0 ? 1 : 0;
  const size_t pairs_at = inputs - 1, summaries_at = inputs;
  const bool summaries = c.Flag(Attribute::kSummaries);
  inputs += summaries ? 2 : 0;
  const bool placed = c.Flag(Attribute::kRowCoordinates);
  inputs += placed ? 1 : 0;
  if (c.in_count() != inputs) Fail("attention with these attributes takes {} inputs, not {}", inputs, c.in_count());
  if (centered) {
    const BlobValue& centers = c.in(centers_at);
    if (centers.space != q.space || centers.width != 1) {
      Fail("{} is not one number for each row of {}", centers.name, q.name);
    }
  }
  if (pairs != 0) {
    const BlobValue& bias = c.in(pairs_at);
    if (bias.space != q.space || (pairs != 1 && pairs != heads) || bias.width % pairs != 0) {
      Fail("{} is not a number for each key, of 1 or {} heads, in each row of {}", bias.name, heads, q.name);
    }
  }
  if (placed) {
    const BlobValue& coordinates = c.in(inputs - 1);
    if (coordinates.space != q.space || k.space != q.space || coordinates.width != axes) {
      Fail("{} is not {} numbers for each row of {}, which keys are, too", coordinates.name, axes, q.name);
    }
  }
  if (summaries) {
    const BlobValue &keys = c.in(summaries_at), &values = c.in(summaries_at + 1);
    const BlobSpace& groups = c.spaces()[keys.space];
    c.SameSpace(summaries_at, summaries_at + 1);
    if (groups.kind != SpaceKind::kStrided || groups.source != k.space || groups.first != 0 ||
        groups.extra != groups.last + 1u) {
      Fail("space {} of the summaries is not made of space {} by strides that leave out what makes no whole group",
           groups.name, c.spaces()[k.space].name);
    }
    if (keys.width != k.width || values.width != v.width || keys.type != k.type || values.type != v.type) {
      Fail("summaries {} and {} are not like keys and values", keys.name, values.name);
    }
    if (c.Has(10) && (c.tensor(10).rows != heads || c.tensor(10).width % 2 == 0)) {
      Fail("tensor {} is [{}, {}], [{}, an odd number] is needed", c.tensor(10).name, c.tensor(10).rows,
           c.tensor(10).width, heads);
    }
  }
  return {heads, kv_heads};
}

void AttentionRule(Check& c) {
  const Heads heads = CheckAttention(c);
  c.Result(c.in(0).space, uint64_t{c.in(2).width} / heads.of_keys * heads.of_queries);
}

void Received(Check& c) {
  const Heads heads = CheckAttention(c);
  c.Result(c.in(1).space, heads.of_queries);
}

void Cast(Check& c) {
  const DType type = c.Choice<DType>(Attribute::kType, std::nullopt);
  if (type != DType::kF16 && type != DType::kI8 && type != DType::kBf16) Fail("type must be f16, bf16 or int8");
  const uint32_t heads = c.Number(Attribute::kHeads, 1);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  c.Result(c.in(0).space, c.in(0).width);
  c.ResultIs(type);
}

void Append(Check& c) {
  const DType type = c.Choice<DType>(Attribute::kType, DType::kF32);
  if (type != DType::kF32 && type != DType::kF16 && type != DType::kI8 && type != DType::kBf16) {
    Fail("type must be f32, f16, bf16 or int8");
  }
  const uint32_t heads = c.Number(Attribute::kHeads, 1);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  const auto fits = [&](const BlobSpace& s) { return s.kind == SpaceKind::kCached && s.source == c.in(0).space; };
  c.Result(c.OneSpace(fits, "keep rows of space " + c.spaces()[c.in(0).space].name), c.in(0).width);
  c.ResultIs(type);
}

void Hash(Check& c) {
  const uint32_t heads = c.Number(Attribute::kHeads, 1), rounds = c.Number(Attribute::kRounds, 1);
  const uint32_t buckets = c.Number(Attribute::kBuckets, std::nullopt), more = c.Number(Attribute::kMoreBuckets, 0);
  if (heads == 0 || c.in(0).width % heads != 0) {
    Fail("{} is {} wide, which is not {} heads", c.in(0).name, c.in(0).width, heads);
  }
  if (buckets == 0 || buckets % 2 != 0 || more % 2 != 0) Fail("{} and {} buckets are not even", buckets, more);
  if (uint64_t{buckets} * std::max(more, 1u) > 65536) Fail("{} x {} buckets are too many", buckets, more);
  c.Shape(0, heads * rounds * (buckets / 2 + more / 2), c.in(0).width / heads);
  c.Result(c.in(0).space, uint64_t{heads} * rounds);
  c.ResultIsIndices();
}

void Sort(Check& c) {
  if (c.in(0).type != DType::kI32) Fail("{} holds no buckets", c.in(0).name);
  c.Result(c.in(0).space, uint64_t{2} * c.in(0).width);
  c.ResultIsIndices();
}

}  // namespace

extern const Rule kAttentionRule = {3,
                                    10,
                                    0,
                                    11,
                                    AttentionRule,
                                    ~7u,
                                    1u << 1 | 1u << 2 | 1u << 3 | 1u << 7,
                                    1u << 1 | 1u << 2,
                                    1u << 5 | 1u << 6,
                                    1u << 1 | 1u << 2};
extern const Rule kReceivedRule = {
    3, 10, 0, 11, Received, ~7u, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7, 1u << 1 | 1u << 2, 1u << 5 | 1u << 6};
extern const Rule kCastRule = {1, 1, 0, 0, Cast};
extern const Rule kAppendRule = {1, 1, 0, 0, Append};
extern const Rule kHashRule = {1, 1, 1, 1, Hash};
extern const Rule kSortRule = {1, 1, 0, 0, Sort, 1u << 0};

}  // namespace fovea::tools
