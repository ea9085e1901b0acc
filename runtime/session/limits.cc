// Derives the limits of every space of a program from the limits that the caller gives for some.
#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

const fovea_limit* FindLimit(const fovea_session_options& options, uint32_t space) {
  for (uint32_t i = 0; i < options.limit_count; ++i) {
    if (options.limits[i].space == space) return &options.limits[i];
  }
  return nullptr;
}

void MarkUsed(const Blob& blob, const ProgramRecord& program, SpaceState* spaces) {
  for (uint32_t v = 0; v < program.value_count; ++v) spaces[blob.values[program.first_value + v].space].used = true;
  for (uint32_t i = blob.spaces.count; i-- > 0;) {
    if (!spaces[i].used) continue;
    if (blob.spaces[i].parent != kBlobNone) spaces[blob.spaces[i].parent].used = true;
    if (SpaceHasSource(blob.spaces[i].kind)) spaces[blob.spaces[i].source].used = true;
  }
}

}  // namespace

// In each segment the first such row needs offset + 1 rows, each further one `stride` more.
uint64_t MostStridedRows(const SpaceState& space, uint64_t stride, uint64_t offset) {
  const uint64_t rows = space.max_rows, segments = space.max_segments;
  if (space.max_segment_rows <= offset) return 0;
  const uint64_t in_segment = DivideUp(space.max_segment_rows - offset, stride);
  if (offset < stride) {  // the first needs fewest rows: use as many segments as can have one
    const uint64_t used = rows / (offset + 1) < segments ? rows / (offset + 1) : segments;
    const uint64_t most = used + (rows - used * (offset + 1)) / stride;
    return most < used * in_segment ? most : used * in_segment;
  }
  // Otherwise fill one segment after the other.
  const uint64_t full = offset + 1 + (in_segment - 1) * stride;
  const uint64_t used = rows / full < segments ? rows / full : segments;
  const uint64_t left = rows - used * full;
  const uint64_t last = used < segments && left > offset ? DivideUp(left - offset, stride) : 0;
  return used * in_segment + (last < in_segment ? last : in_segment);
}

namespace {

// The most rows of a strided space. In each segment the first `first` + 1 rows need one source row each; later rows
// need more, the next one most. So the maximum has few long segments.
uint64_t MostRows(const Strides& strides, const SpaceState& source) {
  const uint64_t rows = source.max_rows, segments = source.max_segments, longest = source.max_segment_rows;
  const uint64_t cheap = longest < strides.first + 1 ? longest : strides.first + 1;
  if (rows <= segments * cheap) return rows;
  const uint64_t more = strides.Rows(longest) - cheap;  // in a full segment
  if (more == 0) return segments * cheap;
  const uint64_t price = strides.Longest(cheap) - cheap + (more - 1) * strides.stride + 1;
  const uint64_t left = rows - segments * cheap, full = left / price;
  if (full >= segments) return segments * (cheap + more);
  const uint64_t rest = strides.Rows(left - full * price + cheap) - cheap;
  return segments * cheap + full * more + (rest < more ? rest : more);
}

// The most rows of a derived space, and its longest segment. No overflow: limits of spaces are below 2^31, `extra` is
// at most 2^20. `chooser`: for a selected space, the operation that chooses its rows.
uint64_t FollowLimits(const SpaceRecord& record, const SpaceState* spaces, const Op* chooser, SpaceState* space) {
  const uint64_t segments = space->max_segments, extra = record.extra;
  if (record.kind == SpaceKind::kFixed) {
    space->max_segment_rows = record.extra;
    return segments * extra;
  }
  const SpaceState& source = spaces[record.source];
  const uint64_t rows = source.max_rows;
  switch (record.kind) {
    case SpaceKind::kExtended:
      space->max_segment_rows = source.max_segment_rows + record.extra;
      return rows + segments * extra;
    case SpaceKind::kStrided:
      space->max_segment_rows = static_cast<uint32_t>(Strides(record).Rows(source.max_segment_rows));
      return MostRows(Strides(record), source);
    default: {  // at most `extra` per segment, or all rows of as many segments as can be chosen
      const bool all = extra == 0 || extra > source.max_segment_rows;
      space->max_segment_rows = all ? source.max_segment_rows : record.extra;
      SpaceLimits chosen = source;
      if (chooser != nullptr && chooser->def->most_chosen != nullptr) {
        chosen = chooser->def->most_chosen(*chooser, source);
        if (chosen.max_segment_rows < space->max_segment_rows) space->max_segment_rows = chosen.max_segment_rows;
      }
      const uint64_t most = segments * space->max_segment_rows;
      return most < chosen.max_rows ? most : chosen.max_rows;
    }
  }
}

// The operation of the program that chooses the rows of `space`; null for other spaces.
const Op* ChooserOf(const Model& model, const ProgramRecord& program, uint32_t space) {
  for (uint32_t i = 0; i < program.operation_count; ++i) {
    const Op& op = model.Operation(program, i);
    if (op.def->chooses && op.output.space == space) return &op;
  }
  return nullptr;
}

// `allowed`: rows per segment for which the model has positions.
Status CheckLimit(uint32_t rows, uint32_t segment_rows, uint32_t allowed, Reporter& reporter) {
  if (rows == 0 || rows > INT32_MAX) {
    return reporter.Fail(FOVEA_E_OPTION, "a limit must be from 1 to 2^31 - 1 rows", INT32_MAX, rows);
  }
  if (segment_rows <= allowed) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "the model has no positions for segments of this length", allowed, segment_rows);
}

// For a cached space, limits the length of one text and the rows kept of all texts. The sum of lengths is bounded like
// rows, although texts may share pages.
Status LimitCached(const Model& model, const fovea_session_options& options, uint32_t i, Reporter& reporter,
                   SpaceState* spaces) {
  const SpaceRecord& record = model.blob.spaces[i];
  SpaceState& space = spaces[i];
  const fovea_limit* limit = FindLimit(options, i);
  if (limit == nullptr)
    return reporter.Fail(FOVEA_E_OPTION, "a space of the program has no limit: give its number of rows", i);
  const uint32_t allowed = model.max_segment_rows[i], most = INT32_MAX / space.max_segments;
  FOVEA_TRY(CheckLimit(limit->rows, limit->segment_rows, allowed, reporter));
  space.cached_rows = limit->rows;
  space.max_segment_rows = limit->segment_rows != 0 ? limit->segment_rows : allowed < most ? allowed : most;
  const bool drops = record.extra != 0;
  if (!drops && space.max_segment_rows > space.cached_rows) space.max_segment_rows = space.cached_rows;
  return kOk;
}

// All cached spaces hold rows of the same texts.
Status LimitTexts(const Blob& blob, Reporter& reporter, SpaceState* spaces) {
  uint32_t most = UINT32_MAX;
  const auto each_cached = [&](auto f) {
    for (uint32_t i = 0; i < blob.spaces.count; ++i) {
      if (spaces[i].used && blob.spaces[i].kind == SpaceKind::kCached) f(spaces[i]);
    }
  };
  each_cached([&](SpaceState& space) { most = space.max_segment_rows < most ? space.max_segment_rows : most; });
  uint64_t rows = 0;
  each_cached([&](SpaceState& space) {
    space.max_segment_rows = most;
    rows = uint64_t{space.max_segments} * most;
    space.max_rows = static_cast<uint32_t>(rows);
  });
  return rows <= INT32_MAX ? kOk : reporter.Fail(FOVEA_E_OPTION, "too many rows", INT32_MAX, rows);
}

}  // namespace

Status ResolveLimits(const Model& model, const ProgramRecord& program, const fovea_session_options& options,
                     Reporter& reporter, SpaceState* spaces) {
  const Blob& blob = model.blob;
  MarkUsed(blob, program, spaces);
  uint64_t selections[kMaxSpaces];
  FindSelections(blob, selections);
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceRecord& record = blob.spaces[i];
    SpaceState& space = spaces[i];
    if (!space.used) continue;
    space.selected = selections[i] != 0;
    space.max_segments = record.parent == kBlobNone ? 1 : spaces[record.parent].max_rows;
    if (record.kind == SpaceKind::kCached) {
      FOVEA_TRY(LimitCached(model, options, i, reporter, spaces));
      continue;
    }
    if (record.kind != SpaceKind::kInput) {
      const uint64_t rows = FollowLimits(record, spaces, ChooserOf(model, program, i), &space);
      if (rows > INT32_MAX) return reporter.Fail(FOVEA_E_OPTION, "too many rows", INT32_MAX, rows);
      space.max_rows = static_cast<uint32_t>(rows);
      continue;
    }
    const fovea_limit* limit = FindLimit(options, i);
    if (limit == nullptr && record.parent != kBlobNone) {
      return reporter.Fail(FOVEA_E_OPTION, "a space of the program has no limit: give its number of rows", i);
    }
    space.max_rows = limit == nullptr ? 1 : limit->rows;
    const uint32_t allowed = model.max_segment_rows[i];
    space.max_segment_rows = limit == nullptr ? 0 : limit->segment_rows;
    FOVEA_TRY(CheckLimit(space.max_rows, space.max_segment_rows, allowed, reporter));
    if (space.max_segment_rows == 0) space.max_segment_rows = allowed;
    if (space.max_segment_rows > space.max_rows) space.max_segment_rows = space.max_rows;
  }
  return LimitTexts(blob, reporter, spaces);
}

}  // namespace fovea
