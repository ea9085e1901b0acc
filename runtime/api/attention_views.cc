#include "runtime/api/attention_views.h"

#include <algorithm>

#include "runtime/base/dtype.h"

namespace fovea {
namespace {

// Vectors in the caller's memory: the given number of rows, heads and segments, at strides.
struct Place {
  const void* data;
  uint64_t rows, heads, segments, width;
  size_t element;
  size_t row_stride, head_stride, segment_stride;
};

// Replaces strides of 0 by their defaults. With one head its stride is never read.
Status FillStrides(Place* place, Reporter& reporter) {
  const CheckedSize vector = CheckedSize(place->width) * place->element;
  if (place->head_stride == 0 || place->heads == 1) place->head_stride = static_cast<size_t>(vector.value());
  CheckedSize dense;
  if (place->row_stride == 0) {
    dense = CheckedSize(place->heads) * place->head_stride;
    place->row_stride = static_cast<size_t>(dense.value());
  }
  if (vector.ok() && dense.ok()) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "a view exceeds the address space", SIZE_MAX, place->rows);
}

Status CheckPlace(const Place& place, Reporter& reporter) {
  for (const uintptr_t at : {reinterpret_cast<uintptr_t>(place.data), uintptr_t{place.row_stride},
                             uintptr_t{place.head_stride}, uintptr_t{place.segment_stride}}) {
    if (at % place.element == 0) continue;
    return reporter.Fail(FOVEA_E_MISALIGNED, "data or a stride is not aligned to an element", place.element,
                         at % place.element);
  }
  if (place.rows == 0 || place.segments == 0) return kOk;
  if (place.data == nullptr) return reporter.Fail(FOVEA_E_NULL, "data of a view is NULL", place.rows, 0);
  const CheckedSize end = CheckedSize(reinterpret_cast<uintptr_t>(place.data)) +
                          CheckedSize(place.segment_stride == 0 ? 0 : place.segments - 1) * place.segment_stride +
                          CheckedSize(place.rows - 1) * place.row_stride +
                          CheckedSize(place.heads - 1) * place.head_stride + CheckedSize(place.width) * place.element;
  if (end.ok()) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "a view exceeds the address space", SIZE_MAX, place.rows);
}

// Whether vectors overlap: in ascending order, each stride must exceed the extent of all dimensions with shorter
// strides. The place is in the address space.
bool Overlaps(const Place& place) {
  struct Axis {
    size_t stride;
    uint64_t count;
  };
  Axis axes[] = {{place.row_stride, place.rows},
                 {place.head_stride, place.heads},
                 {place.segment_stride, place.segment_stride == 0 ? 1 : place.segments}};
  std::sort(axes, axes + 3, [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  uint64_t extent = place.width * place.element;
  for (const Axis& axis : axes) {
    if (axis.count < 2) continue;
    if (axis.stride < extent) return true;
    extent += (axis.count - 1) * axis.stride;
  }
  return false;
}

// Keeps the rule that positions fit an int32.
Status CheckRows(uint32_t rows, Reporter& reporter) {
  return rows <= INT32_MAX ? kOk : reporter.Fail(FOVEA_E_ROWS, "a view has too many rows", INT32_MAX, rows);
}

size_t KeyBytes(uint32_t type) {
  switch (type) {
    case FOVEA_TYPE_F32:
      return 4;
    case FOVEA_TYPE_F16:
    case FOVEA_TYPE_BF16:
      return 2;
    case FOVEA_TYPE_I8:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Status ReadRows(const fovea_attention_rows* given, const ViewShape& shape, HeadRows* rows, HeadRows* scales,
                Reporter& reporter) {
  reporter.tensor = shape.tensor;
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "a view is NULL");
  const size_t element = KeyBytes(given->type);
  if (element == 0 || (scales == nullptr && given->type != FOVEA_TYPE_F32)) {
    return reporter.Fail(FOVEA_E_OPTION, "a view has a type that is not allowed here", FOVEA_TYPE_F32, given->type);
  }
  FOVEA_TRY(CheckRows(given->rows, reporter));
  Place place = {given->data, given->rows,       shape.heads,        shape.segments,       shape.width,
                 element,     given->row_stride, given->head_stride, given->segment_stride};
  FOVEA_TRY(FillStrides(&place, reporter));
  FOVEA_TRY(CheckPlace(place, reporter));
  *rows = {given->data, place.row_stride, place.head_stride, place.segment_stride};
  if (given->type == FOVEA_TYPE_I8) {
    place = {given->scales,
             given->rows,
             shape.heads,
             shape.segments,
             1,
             sizeof(float),
             given->scale_row_stride,
             given->scale_head_stride,
             given->scale_segment_stride};
    FOVEA_TRY(FillStrides(&place, reporter));
    FOVEA_TRY(CheckPlace(place, reporter));
    if ((place.segment_stride == 0) != (given->segment_stride == 0)) {
      return reporter.Fail(FOVEA_E_OPTION, "scales must have a segment_stride if and only if their elements do",
                           given->segment_stride, 0);
    }
    *scales = {given->scales, place.row_stride, place.head_stride, place.segment_stride};
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status ReadOut(const fovea_attention_out* given, const ViewShape& shape, HeadMatrix<void>* out, Reporter& reporter) {
  reporter.tensor = shape.tensor;
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "out is NULL");
  FOVEA_TRY(CheckRows(given->rows, reporter));
  Place place = {given->data,   given->rows,       shape.heads,        shape.segments,       shape.width,
                 sizeof(float), given->row_stride, given->head_stride, given->segment_stride};
  FOVEA_TRY(FillStrides(&place, reporter));
  FOVEA_TRY(CheckPlace(place, reporter));
  // Workers write the rows concurrently.
  if (Overlaps(place)) {
    return reporter.Fail(FOVEA_E_OPTION, "rows of out overlap", place.width * sizeof(float), place.row_stride);
  }
  *out = {given->data, place.row_stride, place.head_stride, place.segment_stride};
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status ReadKeyBias(const fovea_attention_score& given, uint32_t rows, const ViewShape& shape, HeadRows* bias,
                   Reporter& reporter) {
  const uint32_t heads = given.key_bias_heads == 0 ? 1 : given.key_bias_heads;
  if (heads != 1 && heads != shape.heads) {
    return reporter.Fail(FOVEA_E_OPTION, "key_bias_heads must be 1 or the number of heads", shape.heads, heads);
  }
  if (given.key_bias == nullptr) return kOk;
  Place place = {given.key_bias,
                 rows,
                 heads,
                 shape.segments,
                 1,
                 sizeof(float),
                 given.key_bias_row_stride,
                 given.key_bias_head_stride,
                 given.key_bias_segment_stride};
  FOVEA_TRY(FillStrides(&place, reporter));
  FOVEA_TRY(CheckPlace(place, reporter));
  *bias = {given.key_bias, place.row_stride, heads == 1 ? 0 : place.head_stride, place.segment_stride};
  return kOk;
}

Status ReadPairBias(const fovea_attention_pairs_bias& given, uint32_t rows, const ViewShape& shape, PairBias* bias,
                    Reporter& reporter) {
  if (given.data == nullptr) return kOk;
  if (given.type != FOVEA_TYPE_F32 && given.type != FOVEA_TYPE_U8) {
    return reporter.Fail(FOVEA_E_OPTION, "pair_bias must be f32 or u8", FOVEA_TYPE_F32, given.type);
  }
  const bool by_row = given.segment_stride == FOVEA_BY_ROW;
  const Place place = {given.data,
                       rows,
                       shape.heads,
                       shape.segments,
                       given.keys,
                       given.type == FOVEA_TYPE_F32 ? sizeof(float) : 1,
                       given.row_stride,
                       given.head_stride,
                       by_row ? 0 : given.segment_stride};
  FOVEA_TRY(CheckPlace(place, reporter));
  *bias = {given.data,       given.type == FOVEA_TYPE_U8, given.keys,
           given.row_stride, given.head_stride,           by_row ? PairBias::kByRow : given.segment_stride};
  return kOk;
}

Status ReadCenters(const fovea_attention_pattern& given, uint32_t rows, AttentionCall* call, Reporter& reporter) {
  if (given.center_values == nullptr) return kOk;
  Place place = {given.center_values, rows, 1, 1, 1, sizeof(float), given.center_stride, 0, 0};
  FOVEA_TRY(FillStrides(&place, reporter));
  FOVEA_TRY(CheckPlace(place, reporter));
  call->centers = {given.center_values, place.row_stride};
  return kOk;
}

}  // namespace fovea
