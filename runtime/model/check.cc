// Checks of a blob's records, after which every index and offset in them is valid.
#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/model/model.h"

namespace fovea {
namespace {

Status CheckMetadata(const Blob& blob, Reporter& reporter) {
  for (uint32_t i = 0; i < blob.metadata.count; ++i) {
    const auto [key, value] = blob.metadata[i];
    if (!blob.HasString(key) || !blob.HasString(value)) {
      return reporter.Fail(FOVEA_E_RECORD, "a metadata entry refers to a string outside the strings section",
                           blob.strings.size, blob.HasString(key) ? value : key);
    }
  }
  return kOk;
}

// A space and its source have the same parent, or a selected space's parent was selected from the source's parent.
bool SourceFits(const Blob& blob, const SpaceRecord& space) {
  const uint32_t parent = blob.spaces[space.source].parent;
  if (parent == space.parent) return true;
  if (space.kind != SpaceKind::kSelected || space.parent == kBlobNone || space.extra != 0) return false;
  return blob.spaces[space.parent].kind == SpaceKind::kSelected && blob.spaces[space.parent].source == parent;
}

Status CheckSpaceKind(const Blob& blob, uint32_t i, Reporter& reporter) {
  const SpaceRecord& space = blob.spaces[i];
  uint32_t least_extra = 1;
  if (space.kind != SpaceKind::kStrided && (space.first != 0 || space.last != 0)) {
    return reporter.Fail(FOVEA_E_RECORD, "first and last of a space that is not strided must be 0", 0,
                         space.first != 0 ? space.first : space.last);
  }
  switch (space.kind) {
    case SpaceKind::kInput:
      return kOk;
    case SpaceKind::kFixed:
      if (space.parent == kBlobNone)
        return reporter.Fail(FOVEA_E_RECORD, "a space of fixed segments needs a parent", i);
      break;
    case SpaceKind::kSelected:
    case SpaceKind::kCached:
      least_extra = 0;
      break;
    case SpaceKind::kStrided:
      least_extra = 2;
      break;
    case SpaceKind::kExtended:
      break;
    default:
      return reporter.Fail(FOVEA_E_OP, "unknown kind of space", kSpaceKindCount - 1, static_cast<uint32_t>(space.kind));
  }
  if (SpaceHasSource(space.kind) && (space.source >= i || !SourceFits(blob, space))) {
    return reporter.Fail(FOVEA_E_RECORD, "a space's source must precede it and fit its parent", i, space.source);
  }
  if (space.kind == SpaceKind::kCached && blob.spaces[space.source].kind != SpaceKind::kInput) {
    return reporter.Fail(FOVEA_E_RECORD, "a cached space's source must be an input space", i, space.source);
  }
  if (space.extra < least_extra || space.extra > kMaxRecords) {
    return reporter.Fail(FOVEA_E_RECORD, "a space's number of rows is out of range", kMaxRecords, space.extra);
  }
  return kOk;
}

Status CheckSpaces(const Blob& blob, Reporter& reporter) {
  if (blob.spaces.count > kMaxSpaces) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many spaces", kMaxSpaces, blob.spaces.count);
  }
  uint32_t depth[kMaxSpaces];
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceRecord& space = blob.spaces[i];
    if (!blob.HasString(space.name)) {
      return reporter.Fail(FOVEA_E_RECORD, "a space's name is outside the strings section", blob.strings.size,
                           space.name);
    }
    if (space.parent != kBlobNone && space.parent >= i) {
      return reporter.Fail(FOVEA_E_RECORD, "a space's parent must precede it", i, space.parent);
    }
    const bool below = space.parent != kBlobNone && blob.spaces[space.parent].kind == SpaceKind::kCached;
    if (below ||
        (SpaceHasSource(space.kind) && space.source < i && blob.spaces[space.source].kind == SpaceKind::kCached)) {
      return reporter.Fail(FOVEA_E_RECORD, "a cached space cannot be a parent or source", i,
                           below ? space.parent : space.source);
    }
    depth[i] = space.parent == kBlobNone ? 1 : depth[space.parent] + 1;
    if (depth[i] > kMaxSpaceDepth)
      return reporter.Fail(FOVEA_E_TOO_COMPLEX, "spaces nest too deep", kMaxSpaceDepth, depth[i]);
    FOVEA_TRY(CheckSpaceKind(blob, i, reporter));
  }
  uint64_t selections[kMaxSpaces];
  FindSelections(blob, selections);
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    if (blob.spaces[i].kind == SpaceKind::kInput && selections[i] != 0) {
      return reporter.Fail(FOVEA_E_RECORD, "the parent of an input space must not be selected during a run", i,
                           blob.spaces[i].parent);
    }
  }
  return kOk;
}

Status CheckTensors(const Blob& blob, Reporter& reporter) {
  for (uint32_t i = 0; i < blob.tensors.count; ++i) {
    reporter.tensor = i;
    const TensorRecord& t = blob.tensors[i];
    if (!blob.HasString(t.name))
      return reporter.Fail(FOVEA_E_RECORD, "a tensor's name is outside the strings section", blob.strings.size, t.name);
    if (t.type >= kTensorTypeCount) {
      return reporter.Fail(FOVEA_E_OP, "unknown element type", kTensorTypeCount - 1, t.type);
    }
    if (t.width == 0 || t.width > kMaxWidth || t.rows == 0 || t.rows > INT32_MAX) {
      return reporter.Fail(FOVEA_E_SHAPE, "tensor is empty or too large", kMaxWidth, t.width);
    }
    const DType type = DType(t.type);
    if (type == DType::kI4 && t.width % kI4Block != 0) {
      return reporter.Fail(FOVEA_E_SHAPE, "width of an int4 tensor must be a multiple of 32", kI4Block, t.width);
    }
    const CheckedSize rows = CheckedSize(t.rows) * CheckedSize(RowBytes(type, t.width));
    const CheckedSize scales = CheckedSize(ScaleBytes(type, t.rows, t.width));
    if (rows.ok() && blob.IsAbsent(i)) continue;
    if (t.data % kBlobAlignment != 0 || !rows.ok() || !InBounds(t.data, rows.value(), blob.weights.size)) {
      return reporter.Fail(FOVEA_E_RECORD, "a tensor is misaligned or outside the weights section", blob.weights.size,
                           rows.value(), t.data);
    }
    if (scales.value() != 0 &&
        (t.scales % kBlobAlignment != 0 || !InBounds(t.scales, scales.value(), blob.weights.size))) {
      return reporter.Fail(FOVEA_E_RECORD, "a tensor's scales are misaligned or outside the weights section",
                           blob.weights.size, scales.value(), t.scales);
    }
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

// A carried value is carried by an output of equal shape, which carries no other value: the two swap memory after each
// run. An output's record does not name the value that it carries, so pairs are compared; kMaxCarried bounds the time.
Status CheckCarried(const Blob& blob, const ProgramRecord& program, uint32_t inputs, Reporter& reporter) {
  const ValueRecord* values = blob.values.data + program.first_value;
  uint32_t count = 0;
  for (uint32_t i = 0; i < inputs; ++i) {
    const ValueRecord& value = values[i];
    if (value.role != ValueRole::kCarried) continue;
    reporter.tensor = i;
    if (++count > kMaxCarried) return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many carried values", kMaxCarried, count);
    if (value.detail >= program.value_count || values[value.detail].role != ValueRole::kOutput) {
      return reporter.Fail(FOVEA_E_RECORD, "a carried value must name an output of its program", program.value_count,
                           value.detail);
    }
    const ValueRecord& by = values[value.detail];
    if (by.space != value.space || by.width != value.width || by.type != value.type) {
      return reporter.Fail(FOVEA_E_SHAPE, "a carried value and its output differ in space, width or type", value.width,
                           by.width);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (values[k].role == ValueRole::kCarried && values[k].detail == value.detail) {
        return reporter.Fail(FOVEA_E_RECORD, "two carried values name the same output", k, value.detail);
      }
    }
  }
  return kOk;
}

// f16, bf16 and int8 are types of outputs of `cast` and of inputs that another program's `cast` made.
Status CheckType(const ValueRecord& value, Reporter& reporter) {
  const DType type = DType(value.type);
  const bool carried = value.role == ValueRole::kCarried;
  const bool cast = type == DType::kF16 || type == DType::kBf16 || type == DType::kI8;
  if (type != DType::kF32 && type != DType::kI32 && (carried || !cast)) {
    return reporter.Fail(FOVEA_E_SHAPE, "a value must be f32, i32 or, if it is not carried, f16, bf16 or int8", 0,
                         value.type);
  }
  if (LacksRows(type)) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks rows of this type", 0, value.type);
  }
  if (value.role != ValueRole::kInput) return kOk;
  const bool scaled = type == DType::kI8;
  if (scaled ? value.detail == 0 || value.width % value.detail != 0 : value.detail != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "an input's detail must divide its width if it is int8, and be 0 if it is not",
                         value.width, value.detail);
  }
  return kOk;
}

Status CheckValues(const Blob& blob, const ProgramRecord& program, const uint64_t* selections, uint32_t* inputs,
                   Reporter& reporter) {
  *inputs = 0;
  uint32_t cached_source = kBlobNone;
  for (uint32_t i = 0; i < program.value_count; ++i) {
    const ValueRecord& value = blob.values[program.first_value + i];
    reporter.tensor = i;
    if (!blob.HasString(value.name))
      return reporter.Fail(FOVEA_E_RECORD, "a value's name is outside the strings section", blob.strings.size,
                           value.name);
    if (value.space >= blob.spaces.count) {
      return reporter.Fail(FOVEA_E_RECORD, "a value's space does not exist", blob.spaces.count, value.space);
    }
    if (value.width == 0 || value.width > kMaxWidth) {
      return reporter.Fail(FOVEA_E_SHAPE, "a value's width is out of range", kMaxWidth, value.width);
    }
    const bool is_input = IsInput(value.role);
    if (!is_input && value.role != ValueRole::kInternal && value.role != ValueRole::kOutput) {
      return reporter.Fail(FOVEA_E_RECORD, "unknown role of a value", static_cast<uint32_t>(ValueRole::kCarried),
                           static_cast<uint32_t>(value.role));
    }
    if (is_input && *inputs != i) return reporter.Fail(FOVEA_E_RECORD, "inputs must be the first values", *inputs, i);
    *inputs += is_input ? 1 : 0;
    FOVEA_TRY(CheckType(value, reporter));
    const SpaceRecord& space = blob.spaces[value.space];
    if (space.kind == SpaceKind::kCached) {
      if (is_input) return reporter.Fail(FOVEA_E_SHAPE, "an input must not be in a cached space", 0, value.space);
      if (cached_source == kBlobNone) cached_source = space.source;
      if (space.source != cached_source) {
        return reporter.Fail(FOVEA_E_TOO_COMPLEX, "cached spaces of a program must have the same source", cached_source,
                             space.source);
      }
    }
    if (is_input && selections[value.space] != 0) {
      return reporter.Fail(FOVEA_E_SHAPE, "an input must not be in a selected space", 0, value.space);
    }
  }
  FOVEA_TRY(CheckCarried(blob, program, *inputs, reporter));
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status CheckProgram(const Blob& blob, const ProgramRecord& program, const uint64_t* selections, Reporter& reporter) {
  if (!blob.HasString(program.name))
    return reporter.Fail(FOVEA_E_RECORD, "a program's name is outside the strings section", blob.strings.size,
                         program.name);
  if (!InBounds(program.first_value, program.value_count, blob.values.count) ||
      !InBounds(program.first_operation, program.operation_count, blob.operations.count)) {
    return reporter.Fail(FOVEA_E_RECORD, "a program's values or operations are out of range", blob.operations.count,
                         program.first_operation);
  }
  uint32_t inputs = 0;
  FOVEA_TRY(CheckValues(blob, program, selections, &inputs, reporter));
  if (program.value_count - inputs != program.operation_count) {
    return reporter.Fail(FOVEA_E_RECORD, "a program needs one operation for each value that is not an input",
                         program.value_count - inputs, program.operation_count);
  }
  return kOk;
}

}  // namespace

void FindSelections(const Blob& blob, uint64_t* selections) {
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceRecord& space = blob.spaces[i];
    selections[i] = space.kind == SpaceKind::kSelected ? uint64_t{1} << i : 0;
    if (space.parent != kBlobNone) selections[i] |= selections[space.parent];
    if (SpaceHasSource(space.kind)) selections[i] |= selections[space.source];
  }
}

Status CheckRecords(const Blob& blob, Reporter& reporter) {
  FOVEA_TRY(CheckMetadata(blob, reporter));
  if constexpr (!kHasOperations) return kOk;
  FOVEA_TRY(CheckSpaces(blob, reporter));
  FOVEA_TRY(CheckTensors(blob, reporter));
  if (blob.programs.count == 0 || blob.programs.count > kMaxPrograms) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "number of programs is out of range", kMaxPrograms, blob.programs.count);
  }
  if (blob.operations.count > kMaxOperations) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many operations", kMaxOperations, blob.operations.count);
  }
  uint64_t selections[kMaxSpaces];
  FindSelections(blob, selections);
  uint64_t values = 0, operations = 0;
  for (uint32_t i = 0; i < blob.programs.count; ++i) {
    const ProgramRecord& program = blob.programs[i];
    if (program.first_value != values || program.first_operation != operations) {
      return reporter.Fail(FOVEA_E_RECORD, "a program must begin where the previous one ends", operations,
                           program.first_operation);
    }
    values += program.value_count;
    operations += program.operation_count;
    FOVEA_TRY(CheckProgram(blob, program, selections, reporter));
  }
  if (values != blob.values.count || operations != blob.operations.count) {
    return reporter.Fail(FOVEA_E_RECORD, "some values or operations belong to no program", operations,
                         blob.operations.count);
  }
  return kOk;
}

}  // namespace fovea
