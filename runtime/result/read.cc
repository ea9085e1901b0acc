#include "runtime/result/read.h"

#include <math.h>
#include <string.h>

#include "runtime/model/find.h"
#include "runtime/result/pool.h"

namespace fovea {
namespace {

// The rows of a space that belong to text `text`: row `text` of the space above all of its parents.
struct RowRange {
  uint32_t begin, end;
};

RowRange RowsOfText(const Session& session, uint32_t space, uint32_t text) {
  uint32_t below[kMaxSpaces], depth = 0;
  const Blob& blob = session.model->blob;
  for (; blob.spaces[space].parent != kBlobNone; space = blob.spaces[space].parent) below[depth++] = space;
  RowRange rows = {text, text + 1};
  while (depth > 0) {
    const uint32_t* offsets = session.space_rows[below[--depth]].segments.offsets;
    rows = {offsets[rows.begin], offsets[rows.end]};
  }
  return rows;
}

uint32_t TopSpaceOf(const Session& session, uint32_t space) {
  const Blob& blob = session.model->blob;
  while (blob.spaces[space].parent != kBlobNone) space = blob.spaces[space].parent;
  return space;
}

const float* RowOf(const Session& session, uint32_t value, uint32_t row) {
  return reinterpret_cast<const float*>(FinishedRows(session, value) +
                                        size_t{row} * session.plan->values[value].row_bytes);
}

// The output of ends of answers, beside that of starts; or kBlobNone.
uint32_t FindEnds(const Session& session, uint32_t starts) {
  const uint32_t ends = FindValue(*session.model, session.program(), "end_logits");
  if (ends == kBlobNone || !IsReadable(session, ends)) return kBlobNone;
  const ValueRecord &one = session.value(starts), &other = session.value(ends);
  const bool alike = one.space == other.space && one.type == other.type && one.width == 1 && other.width == 1;
  return alike ? ends : kBlobNone;
}

}  // namespace

void Normalize(float* row, uint32_t width) {
  double squares = 0;
  for (uint32_t i = 0; i < width; ++i) squares += double{row[i]} * double{row[i]};
  const double scale = squares == 0 ? 0 : 1 / sqrt(squares);
  for (uint32_t i = 0; i < width; ++i) row[i] = static_cast<float>(double{row[i]} * scale);
}

Status CountResults(const Session& session, const fovea_result_info& info, Reporter& reporter, uint32_t* count) {
  const ProgramRecord& program = session.program();
  const uint32_t own = static_cast<uint32_t>(&program - &session.model->blob.programs[0]);
  if (info.program != own) {
    return reporter.Fail(FOVEA_E_OPTION, "the results are described for another program", own, info.program);
  }
  if (info.value >= program.value_count || !IsReadable(session, info.value)) {
    return reporter.Fail(FOVEA_E_INDEX, "the value is neither an output nor kept", program.value_count, info.value);
  }
  const ValueRecord& value = session.value(info.value);
  if (value.type != static_cast<uint32_t>(DType::kF32)) {
    return reporter.Fail(FOVEA_E_OPTION, "results are read from f32 outputs only", FOVEA_TYPE_F32, value.type);
  }
  if (info.kind == FOVEA_RESULT_ANSWERS && FindEnds(session, info.value) == kBlobNone) {
    return reporter.Fail(FOVEA_E_INDEX, "answers need outputs of starts and of end_logits, one number for each token");
  }
  if (!session.finished) return reporter.Fail(FOVEA_E_ORDER, "no run has finished since the segments were set");
  const bool pools = info.pooling != FOVEA_POOLING_NONE;
  *count = session.space_rows[pools ? TopSpaceOf(session, value.space) : value.space].rows;
  return kOk;
}

Status ReadResults(const Session& session, const fovea_result_info& info, uint32_t first, uint32_t count, float* out,
                   uint64_t capacity, Reporter& reporter) {
  uint32_t all = 0;
  FOVEA_TRY(CountResults(session, info, reporter, &all));
  if (first > all || count > all - first) {
    return reporter.Fail(FOVEA_E_INDEX, "the run has fewer results", all, uint64_t{first} + count);
  }
  const ValueRecord& value = session.value(info.value);
  const bool answers = info.kind == FOVEA_RESULT_ANSWERS;
  const uint32_t width = answers ? 2 : value.width;
  const bool part = info.width != width;
  if (info.width == 0 || info.width > width || (part && (answers || info.activation != FOVEA_ACTIVATION_NONE))) {
    return reporter.Fail(FOVEA_E_OPTION, "the width of results must be the output's, of embeddings at most that", width,
                         info.width);
  }
  if (!CanPool(info.pooling, info.activation) || (answers && info.pooling != FOVEA_POOLING_NONE)) {
    return reporter.Fail(FOVEA_E_OPTION, "the pooling or activation does not exist, or they do not go together");
  }
  const uint64_t needed = uint64_t{count} * info.width;
  if (capacity < needed) return reporter.Fail(FOVEA_E_CAPACITY, "the array of results is too small", needed, capacity);
  for (uint32_t i = 0; i < count; ++i, out += info.width) {
    if (info.pooling != FOVEA_POOLING_NONE) {
      const RowRange rows = RowsOfText(session, value.space, first + i);
      const PooledRows pooled = {reinterpret_cast<const uint8_t*>(RowOf(session, info.value, rows.begin)),
                                 session.plan->values[info.value].row_bytes, rows.end - rows.begin};
      PoolRows(info.pooling, info.activation, pooled, info.width, out);
    } else {
      memcpy(out, RowOf(session, info.value, first + i), (answers ? 1 : info.width) * sizeof(float));
      if (answers) out[1] = *RowOf(session, FindEnds(session, info.value), first + i);
      Activate(info.activation, out, info.width);
    }
    if (part || info.normalize != 0) Normalize(out, info.width);
  }
  return kOk;
}

}  // namespace fovea
