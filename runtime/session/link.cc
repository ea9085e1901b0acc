// Inputs that are outputs of another session: read in place, with that session's segments.
#include <string.h>

#include "runtime/session/session.h"

namespace fovea {
namespace {

bool SameSegments(const Session& a, uint32_t a_space, const Session& b, uint32_t b_space) {
  if (!a.spaces[a_space].bound || !b.spaces[b_space].bound) return false;
  const Segments &x = a.space_rows[a_space].segments, &y = b.space_rows[b_space].segments;
  return x.count == y.count && memcmp(x.offsets, y.offsets, (size_t{x.count} + 1) * sizeof(uint32_t)) == 0;
}

// Gives a space the segments of another session's space; if both are the same space, also its parents and sources.
// These come earlier in the table, so the recursion ends.
Status TakeSegments(Session& session, uint32_t space, const Session& from, uint32_t from_space, Reporter& reporter) {
  if (SameSegments(session, space, from, from_space)) return kOk;
  const Blob& blob = session.model->blob;
  const SpaceRecord& record = blob.spaces[space];
  const bool input = record.kind == SpaceKind::kInput;
  if (space == from_space) {
    const uint32_t above = SpaceHasSource(record.kind) ? record.source : record.parent;
    // A parent without parent gets its rows from SetSegments below.
    if (!input || (above != kBlobNone && blob.spaces[above].parent != kBlobNone)) {
      FOVEA_TRY(TakeSegments(session, above, from, above, reporter));
    }
  }
  if (input) {
    const auto at = [](const void* offsets, uint32_t i) -> uint64_t {
      const uint32_t* o = static_cast<const uint32_t*>(offsets);
      return o[i + 1] - o[i];
    };
    const Segments& segments = from.space_rows[from_space].segments;
    return SetSegments(session, space, {at, segments.offsets, segments.count}, reporter);
  }
  if (SameSegments(session, space, from, from_space)) return kOk;
  return reporter.Fail(FOVEA_E_SEGMENTS, "the input's space is derived and its segments differ from the output's",
                       session.space_rows[space].rows, from.space_rows[from_space].rows);
}

}  // namespace

bool IsReadable(const Session& session, uint32_t value) {
  return value < session.program().value_count &&
         (session.value(value).role == ValueRole::kOutput || session.kept[value]);
}

Status LinkInput(Session& session, uint32_t input, const Session& from, uint32_t output, Reporter& reporter) {
  const uint32_t inputs = session.program().value_count - session.program().operation_count;
  if (session.model != from.model || &session == &from) {
    return reporter.Fail(FOVEA_E_OPTION, "only different sessions of one model can be linked");
  }
  if (input >= inputs) return reporter.Fail(FOVEA_E_INDEX, "the input does not exist in the program", inputs, input);
  if (!IsReadable(from, output)) {
    return reporter.Fail(FOVEA_E_INDEX, "the value is neither an output nor kept", from.program().value_count, output);
  }
  const ValueRecord &own = session.value(input), &other = from.value(output);
  reporter.tensor = input;
  if (own.type != other.type || own.width != other.width) {
    return reporter.Fail(FOVEA_E_OPTION, "input and output differ in width or type", own.width, other.width);
  }
  const Carried* carried = FindCarried(session, input);
  if (carried == nullptr && !session.links[input].linked) {
    return reporter.Fail(FOVEA_E_OPTION, "the input is neither carried nor named in options.linked", 0, input);
  }
  FOVEA_TRY(CheckIdle(session, reporter));
  if (!from.finished) return reporter.Fail(FOVEA_E_ORDER, "the session to link to has no finished run: run it first");
  FOVEA_TRY(TakeSegments(session, own.space, from, other.space, reporter));
  reporter.tensor = FOVEA_NOWHERE;
  if (carried == nullptr) {
    session.links[input].from = &from;
    session.links[input].output = output;
    return kOk;
  }
  const size_t bytes = size_t{session.space_rows[own.space].rows} * session.plan->values[input].row_bytes;
  if (bytes != 0) memcpy(carried->read, FinishedRows(from, output), bytes);
  session.finished = false;
  return kOk;
}

Status FollowLinks(Session& session, Reporter& reporter) {
  const uint32_t inputs = session.program().value_count - session.program().operation_count;
  for (uint32_t v = 0; v < inputs; ++v) {
    Link& link = session.links[v];
    if (!link.linked) continue;
    reporter.tensor = v;
    if (link.from == nullptr)
      return reporter.Fail(FOVEA_E_ORDER, "an input is not linked yet: link it before the run", 0, v);
    if (!link.from->finished) {
      return reporter.Fail(FOVEA_E_ORDER, "the session that an input is linked to has no finished run", 0, v);
    }
    const uint32_t space = session.value(v).space, from_space = link.from->value(link.output).space;
    if (!SameSegments(session, space, *link.from, from_space)) {
      return reporter.Fail(FOVEA_E_SEGMENTS, "a linked input's segments differ from its space's: link it again",
                           session.space_rows[space].rows, link.from->space_rows[from_space].rows);
    }
    session.values[v] = FinishedRows(*link.from, link.output);
    link.changes = link.from->changes;
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status CheckLinks(const Session& session, Reporter& reporter) {
  const uint32_t inputs = session.program().value_count - session.program().operation_count;
  for (uint32_t v = 0; v < inputs; ++v) {
    const Link& link = session.links[v];
    if (!link.linked || (link.from->finished && link.from->changes == link.changes)) continue;
    reporter.tensor = v;
    return reporter.Fail(FOVEA_E_ORDER, "the session that an input is linked to has run since this run began", 0, v);
  }
  return kOk;
}

}  // namespace fovea
