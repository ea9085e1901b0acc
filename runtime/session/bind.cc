// Binds the caller's segments and derives the rows of every space from them.
#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

void Bind(Session& session, uint32_t space, uint32_t count) {
  SpaceState& state = session.spaces[space];
  if (session.space_rows[space].rows != state.offsets[count]) ClearCarried(session, space);
  state.bound = true;
  session.space_rows[space].segments = {state.offsets, count};
  session.space_rows[space].rows = state.offsets[count];
}

// Binds a space that is derived from a bound one.
void BindFollower(Session& session, uint32_t space) {
  const SpaceRecord& record = session.model->blob.spaces[space];
  const SpaceRows& rows = session.space_rows[record.Follows()];
  uint32_t* offsets = session.spaces[space].offsets;
  offsets[0] = 0;
  if (record.kind == SpaceKind::kFixed) {
    for (uint32_t k = 0; k < rows.rows; ++k) offsets[k + 1] = offsets[k] + record.extra;
    return Bind(session, space, rows.rows);
  }
  for (uint32_t k = 0; k < rows.segments.count; ++k) {
    uint32_t length = rows.segments.length(k);
    if (record.kind == SpaceKind::kExtended) length += record.extra;
    if (record.kind == SpaceKind::kStrided) length = static_cast<uint32_t>(Strides(record).Rows(length));
    if (record.kind == SpaceKind::kCached) length += session.cache.starts[k];
    offsets[k + 1] = offsets[k] + length;
  }
  Bind(session, space, rows.segments.count);
}

// Binds derived spaces, which come after the spaces that they derive from: if `selected`, the spaces that depend on a
// selection made during the run, else all the rest.
void BindFollowers(Session& session, uint32_t first, bool selected) {
  const Blob& blob = session.model->blob;
  for (uint32_t i = first; i < blob.spaces.count; ++i) {
    SpaceState& state = session.spaces[i];
    const uint32_t from = blob.spaces[i].Follows();
    if (!state.used || from == kBlobNone || state.selected != selected) continue;
    if (blob.spaces[i].kind != SpaceKind::kSelected && session.spaces[from].bound) BindFollower(session, i);
  }
}

// Whether the parent's rows are derived from this call: the caller does not bind the parent, which has no parent
// itself.
bool ParentFollows(const Blob& blob, const SpaceRecord& record) {
  return record.parent != kBlobNone && blob.spaces[record.parent].parent == kBlobNone &&
         blob.spaces[record.parent].kind == SpaceKind::kInput;
}

}  // namespace

Status CheckSegments(const Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter) {
  const uint32_t count = lengths.count;
  const Blob& blob = session.model->blob;
  if (space >= blob.spaces.count)
    return reporter.Fail(FOVEA_E_INDEX, "the space does not exist", blob.spaces.count, space);
  const SpaceState& state = session.spaces[space];
  const SpaceRecord& record = blob.spaces[space];
  if (record.kind != SpaceKind::kInput || !state.used) {
    return reporter.Fail(FOVEA_E_INDEX, "the program has no input in this space: its segments cannot be bound", 0,
                         space);
  }
  if (record.parent == kBlobNone && count != 1) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "a space without a parent has exactly one segment", 1, count);
  }
  if (count > state.max_segments) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "more segments than the limit of the parent space", state.max_segments,
                         count);
  }
  if (ParentFollows(blob, record) && count > session.spaces[record.parent].max_segment_rows) {
    return reporter.Fail(FOVEA_E_LENGTH, "more segments than the model has positions for in the parent space",
                         session.spaces[record.parent].max_segment_rows, count, count);
  }
  uint64_t rows = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t length = lengths.at(lengths.from, i);
    if (length > state.max_segment_rows) {
      return reporter.Fail(FOVEA_E_LENGTH, "a segment is longer than the session or the model allows",
                           state.max_segment_rows, length, i);
    }
    rows += length;
  }
  if (rows > state.max_rows)
    return reporter.Fail(FOVEA_E_ROWS, "more rows than the space's limit", state.max_rows, rows);
  return kOk;
}

Status SetSegments(Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(session, reporter));
  // Everything is checked before anything is changed: a failed call leaves the old segments.
  FOVEA_TRY(CheckSegments(session, space, lengths, reporter));
  const SpaceRecord& record = session.model->blob.spaces[space];
  SpaceState& state = session.spaces[space];
  const uint32_t count = lengths.count;
  state.offsets[0] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    state.offsets[i + 1] = state.offsets[i] + static_cast<uint32_t>(lengths.at(lengths.from, i));
  }
  Bind(session, space, count);
  if (ParentFollows(session.model->blob, record)) {
    SpaceState& parent = session.spaces[record.parent];
    parent.offsets[0] = 0;
    parent.offsets[1] = count;
    Bind(session, record.parent, 1);
  }
  FindStarts(session);
  BindFollowers(session, 0, false);
  ForgetSelected(session);
  session.finished = false;
  ++session.changes;
  return kOk;
}

void ForgetSelected(Session& session) {
  for (SpaceState& state : session.spaces) {
    if (state.selected) state.bound = false;
  }
}

void BindSelected(Session& session, uint32_t space) {
  const uint32_t parent = session.model->blob.spaces[space].parent;
  Bind(session, space, parent == kBlobNone ? 1 : session.space_rows[parent].rows);
  BindFollowers(session, space + 1, true);
}

void BindCached(Session& session) {
  FindStarts(session);
  for (uint32_t i = 0; i < session.cache.space_count; ++i) BindFollower(session, session.cache.spaces[i].space);
}

Status CheckBound(Session& session, Reporter& reporter) {
  const Blob& blob = session.model->blob;
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceState& state = session.spaces[i];
    if (!state.used || state.selected) continue;
    if (!state.bound)
      return reporter.Fail(FOVEA_E_ORDER, "a space has no segments yet: bind its segments before the run", 0, i);
    const uint32_t parent = blob.spaces[i].parent;
    if (parent != kBlobNone && session.space_rows[i].segments.count != session.space_rows[parent].rows) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "a space must have one segment per row of its parent",
                           session.space_rows[parent].rows, session.space_rows[i].segments.count);
    }
  }
  const ProgramRecord& program = session.program();
  for (uint32_t v = 0; v < program.value_count - program.operation_count; ++v) {
    const uint32_t limit = session.model->id_limits[program.first_value + v];
    if (limit == 0) continue;
    const int32_t* ids = reinterpret_cast<const int32_t*>(session.values[v]);
    const uint32_t rows = session.space_rows[session.value(v).space].rows;
    for (uint32_t r = 0; r < rows; ++r) {
      if (static_cast<uint32_t>(ids[r]) < limit) continue;
      reporter.tensor = v;
      return reporter.Fail(FOVEA_E_ID, "an id is outside its table", limit, static_cast<uint32_t>(ids[r]), r);
    }
  }
  return kOk;
}

}  // namespace fovea
