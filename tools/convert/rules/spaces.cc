// Operations between row spaces.
#include <algorithm>

#include "runtime/blob/attributes.h"
#include "tools/convert/rules/check.h"

namespace fovea::tools {
namespace {

// Made of the first input's space by strides.
uint32_t StridedSpace(Check& c) {
  return c.OneSpace([&](const BlobSpace& s) { return s.kind == SpaceKind::kStrided && s.source == c.in(0).space; },
                    "are made of space " + c.spaces()[c.in(0).space].name + " by strides");
}

void Pool(Check& c) {
  const uint32_t parent = c.Parent(c.in(0).space);
  const bool to_parent =
      c.space_wanted().empty() || (parent != kBlobNone && c.spaces()[parent].name == c.space_wanted());
  if (to_parent && parent == kBlobNone) {
    Fail("space {} has no parent to pool into", c.spaces()[c.in(0).space].name);
  }
  c.Choice<PoolKind>(Attribute::kKind, std::nullopt);
  if (c.Flag(Attribute::kRest) && to_parent) Fail("rest goes with a space that is made by strides");
  c.Result(to_parent ? parent : StridedSpace(c), c.in(0).width);
}

void Prepend(Check& c) {
  if (c.Has(0) == (c.in_count() > 1)) Fail("rows in front are a tensor or a second input");
  uint32_t rows = 0;
  if (c.Has(0)) {
    rows = c.tensor(0).rows;
    c.Shape(0, rows, c.in(0).width);
  } else {
    const BlobSpace& front = c.spaces()[c.in(1).space];
    if (front.kind != SpaceKind::kFixed || front.parent != c.Parent(c.in(0).space)) {
      Fail("space {} is not beside {} with a fixed number of rows in each segment", front.name,
           c.spaces()[c.in(0).space].name);
    }
    rows = front.extra;
    c.SameWidth(0, 1);
  }
  const auto fits = [&](const BlobSpace& s) {
    return s.kind == SpaceKind::kExtended && s.source == c.in(0).space && s.extra == rows;
  };
  const std::string& source = c.spaces()[c.in(0).space].name;
  c.Result(c.OneSpace(fits, fmt::format("extend {} by {} rows", source, rows)), c.in(0).width);
}

void Select(Check& c) {
  if (c.in(0).width != 1) Fail("{} is {} wide, 1 is needed", c.in(0).name, c.in(0).width);
  if (c.in(0).type == DType::kI32 && !c.HoldsIds(0)) Fail("{} holds row indices", c.in(0).name);
  const SelectKind kind = c.Choice<SelectKind>(Attribute::kKind, std::nullopt);
  if (kind == SelectKind::kThreshold) c.Real(Attribute::kThreshold, true);
  if (kind == SelectKind::kBest) {
    const float share = c.Real(Attribute::kShare).value_or(1.0f);
    if (!(share > 0 && share <= 1)) Fail("a share of {} rows is not more than 0 and at most 1", share);
    c.Number(Attribute::kFront);
  }
  c.ResultIsIndices();
  const auto fits = [&](const BlobSpace& s) {
    return s.kind == SpaceKind::kSelected && s.source == c.in(0).space && s.parent == c.Parent(c.in(0).space);
  };
  c.Result(c.OneSpace(fits, "select from space " + c.spaces()[c.in(0).space].name), 1);
}

void Expand(Check& c) {
  const uint32_t chosen = c.in(0).space;
  if (c.in(0).type != DType::kI32 || c.HoldsIds(0)) Fail("{} holds no rows that were selected", c.in(0).name);
  c.ResultIsIndices();
  const auto fits = [&](const BlobSpace& s) { return s.kind == SpaceKind::kSelected && s.parent == chosen; };
  c.Result(c.OneSpace(fits, "select children of " + c.spaces()[chosen].name), 1);
}

void Lexical(Check& c) {
  for (size_t i = 0; i < 2; ++i) {
    if (!c.HoldsIds(i)) Fail("{} does not hold ids", c.in(i).name);
  }
  const uint32_t segments = c.Parent(c.in(0).space);
  if (segments == kBlobNone || c.Parent(segments) != c.Parent(c.in(1).space)) {
    Fail("space {} of the queries is not beside the parent of {}", c.spaces()[c.in(1).space].name,
         c.spaces()[c.in(0).space].name);
  }
  if (c.Has(0)) c.Shape(0, 1, c.tensor(0).width);
  if (c.Choice<LexicalKind>(Attribute::kKind, LexicalKind::kBm25) == LexicalKind::kBm25) {
    c.Real(Attribute::kK1);
    c.Real(Attribute::kB);
  }
  c.Result(segments, 1);
}

void Gather(Check& c) {
  c.Selection(0, 1);
  if (c.in(0).type == DType::kI32) {
    if (!c.HoldsIds(0)) Fail("{} holds row indices", c.in(0).name);
    c.ResultIsIds();
  }
  c.Result(c.in(1).space, c.in(0).width);
}

void Merge(Check& c) {
  c.Selection(0, 2);
  c.SameSpace(1, 2);
  c.SameWidth(0, 1);
  c.Result(c.in(0).space, c.in(0).width);
}

// Rows of `space` for each row of `ancestor`; 0 unless it nests in there and all spaces below have fixed segments.
uint64_t RowsBelow(const std::vector<BlobSpace>& spaces, uint32_t space, uint32_t ancestor) {
  uint64_t rows = 1;
  for (; space != ancestor; space = spaces[space].parent) {
    if (space == kBlobNone || spaces[space].kind != SpaceKind::kFixed || rows > kMaxRecords) return 0;
    rows *= spaces[space].extra;
  }
  return rows;
}

// The space of what is made of rows of the first input that a table names.
uint32_t ArrangedSpace(Check& c, const BlobTensor& table) {
  const uint32_t from = c.in(0).space;
  const std::vector<BlobSpace>& spaces = c.spaces();
  if (spaces[from].kind != SpaceKind::kFixed) {
    Fail("space {} has no fixed number of rows in a segment", spaces[from].name);
  }
  // Rows move within a row of the nearest space that both nest in.
  const auto fits = [&](const BlobSpace& s) {
    const auto to = static_cast<uint32_t>(&s - spaces.data());
    for (uint32_t space = spaces[from].parent;; space = spaces[space].parent) {
      const uint64_t rows = space == to ? 0 : RowsBelow(spaces, to, space);
      if (rows != 0) return rows == table.rows;
      if (spaces[space].kind != SpaceKind::kFixed) return false;
    }
  };
  return c.OneSpace(fits, fmt::format("beside {} have {} rows in each segment", spaces[from].name, table.rows));
}

void Arrange(Check& c) {
  const BlobTensor& table = c.tensor(0);
  if (c.Has(1)) c.Shape(1, table.rows, table.width);
  c.Result(ArrangedSpace(c, table), uint64_t{c.Has(1) ? 1 : table.width} * c.in(0).width);
}

void Unfold(Check& c) {
  const uint64_t rows = uint64_t{c.Number(Attribute::kBefore, 0)} + c.Number(Attribute::kAfter, 0) + 1;
  if (rows > kMaxWidth) Fail("{} rows beside each other are too many", rows);
  c.Result(c.space_wanted().empty() ? c.in(0).space : StridedSpace(c), rows * c.in(0).width);
}

void Convolve(Check& c) {
  const BlobValue& x = c.in(0);
  const BlobSpace& space = c.spaces()[x.space];
  const BlobTensor& weights = c.tensor(0);
  c.Shape(0, weights.rows, x.width);
  if (c.Has(1)) c.Vector(1, x.width);
  if (c.Has(2)) {
    c.Shape(2, c.tensor(2).rows, weights.rows);
    return c.Result(ArrangedSpace(c, c.tensor(2)), x.width);
  }
  const uint32_t after = c.Number(Attribute::kAfter, 0);
  if (after >= weights.rows) {
    Fail("tensor {} has {} rows, so there are at most {} after the one in the middle, not {}", weights.name,
         weights.rows, weights.rows - 1, after);
  }
  const bool kept = space.kind == SpaceKind::kCached;
  if (kept && after != 0) Fail("{} is kept from run to run, so nothing after a row is seen", x.name);
  if (kept && space.extra != 0 && weights.rows - 1 > space.extra) {
    Fail("{} is kept for a window of {} rows, and {} rows before a row are read", x.name, space.extra,
         weights.rows - 1);
  }
  c.Result(kept ? space.source : x.space, x.width);
}

void Broadcast(Check& c) {
  const uint32_t parent = c.in(0).space;
  if (c.in_count() == 1) {
    const auto fits = [&](const BlobSpace& s) { return s.parent == parent; };
    return c.Result(c.OneSpace(fits, "are children of " + c.spaces()[parent].name), c.in(0).width);
  }
  if (c.Parent(c.in(1).space) != parent) {
    Fail("{} has rows of space {}, which is no child of {}", c.in(1).name, c.spaces()[c.in(1).space].name,
         c.spaces()[parent].name);
  }
  c.SameWidth(0, 1);
  c.Choice<BroadcastRows>(Attribute::kRows, BroadcastRows::kAll);
  c.Choice<BroadcastCombine>(Attribute::kCombine, BroadcastCombine::kReplace);
  c.Result(c.in(1).space, c.in(1).width);
}

void Fill(Check& c) {
  c.Shape(0, 1, c.tensor(0).width);
  c.Result(c.OneSpace([](const BlobSpace&) { return true; }, "are there"), c.tensor(0).width);
}

// Strides from one space to another, all with the same first rows: none lead there otherwise.
bool IsMadeOf(const std::vector<BlobSpace>& spaces, uint32_t space, const BlobSpace& of) {
  const uint16_t first = spaces[space].first;
  while (spaces[space].kind == SpaceKind::kStrided && spaces[space].first == first) {
    space = spaces[space].source;
    if (&spaces[space] == &of) return true;
  }
  return false;
}

void Upsample(Check& c) {
  c.Result(c.OneSpace([&](const BlobSpace& s) { return IsMadeOf(c.spaces(), c.in(0).space, s); },
                      "become space " + c.spaces()[c.in(0).space].name + " by strides"),
           c.in(0).width);
}

}  // namespace

extern const Rule kPoolRule = {1, 1, 0, 0, Pool};
extern const Rule kPrependRule = {1, 2, 0, 1, Prepend};
extern const Rule kSelectRule = {1, 1, 0, 0, Select, 1u << 0};
extern const Rule kExpandRule = {1, 1, 0, 0, Expand, 1u << 0};
extern const Rule kLexicalRule = {2, 2, 0, 1, Lexical, 1u << 0 | 1u << 1};
extern const Rule kGatherRule = {2, 2, 0, 0, Gather, 1u << 0 | 1u << 1};
extern const Rule kMergeRule = {3, 3, 0, 0, Merge, 1u << 2};
extern const Rule kArrangeRule = {1, 1, 1, 2, Arrange, 0, 1u << 0};
extern const Rule kBroadcastRule = {1, 2, 0, 0, Broadcast};
extern const Rule kFillRule = {0, 0, 1, 1, Fill};
extern const Rule kConvolveRule = {1, 1, 1, 3, Convolve, 0, 1u << 2, 0, 0, 1u << 0};
extern const Rule kUnfoldRule = {1, 1, 0, 0, Unfold};
extern const Rule kUpsampleRule = {1, 1, 0, 0, Upsample};

}  // namespace fovea::tools
