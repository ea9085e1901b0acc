#include "runtime/model/model.h"

#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"

namespace fovea {
namespace {

template <typename F>
Status ForEachOperation(const Blob& blob, F f) {
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    for (uint32_t i = 0; i < program.operation_count; ++i) {
      const uint32_t index = program.first_operation + i;
      FOVEA_TRY(f(OpView{&blob, &blob.operations[index], blob.values.data + program.first_value}, index, program));
    }
  }
  return kOk;
}

// Whether an operation before this one has the same layer.
bool HasEarlier(const Blob& blob, const OpView& view, uint32_t index, LayerRows rows) {
  for (uint32_t i = 0; i < index; ++i) {
    const OpView other{&blob, &blob.operations[i], nullptr};
    if (other.TensorIndex(0) != view.TensorIndex(0) || other.TensorIndex(1) != view.TensorIndex(1)) continue;
    const auto layer = FindOp(other.record->code)->layer;
    for (uint32_t k = 0; layer != nullptr && k < kMaxLayers; ++k) {
      const LayerRows of_other = layer(other, k);
      if (of_other.begin == rows.begin && of_other.end == rows.end) return true;
    }
  }
  return false;
}

// Calls f(weights, number) for each distinct linear layer in order of first use. Sizing has no memory to remember
// layers in, so each is looked for among the operations before it; kMaxOperations bounds the time.
template <typename F>
Status ForEachLinear(const Blob& blob, F f) {
  uint32_t count = 0;
  return ForEachOperation(blob, [&](const OpView& view, uint32_t index, const ProgramRecord&) -> Status {
    GemmWeights weights;
    for (uint32_t i = 0; i < kMaxLayers && FindLayer(view, i, &weights); ++i) {
      if (HasEarlier(blob, view, index, FindOp(view.record->code)->layer(view, i))) continue;
      FOVEA_TRY(f(weights, count++));
    }
    return kOk;
  });
}

const GemmBackend& Choose(const GemmShape& shape, const GemmBackend& preferred) {
  return preferred.supports(shape) ? preferred : HighwayGemm();
}

// The packed section that `preferred` made on a machine like this one, if its table fits the model; else null.
const uint8_t* FindPackedSection(const Blob& blob, const GemmBackend& preferred, uint32_t linear_count) {
  for (uint32_t i = 0; i < blob.sections.count; ++i) {
    const SectionRecord& record = blob.sections[i];
    if (record.kind != SectionKind::kPacked || record.layout != preferred.packed_layout()) continue;
    const ByteRange section = blob.Section(i);
    if (section.size / sizeof(PackedRecord) < linear_count) continue;
    const PackedRecord* packed = reinterpret_cast<const PackedRecord*>(section.data);
    bool fits = true;
    const Status walked = ForEachLinear(blob, [&](const GemmWeights& weights, uint32_t k) -> Status {
      const uint64_t bytes = Choose(weights.shape, preferred).packed_bytes(weights.shape);
      fits = fits && packed[k].size == bytes && packed[k].offset % kBlobAlignment == 0 &&
             InBounds(packed[k].offset, packed[k].size, section.size);
      return kOk;
    });
    if (walked.ok() && fits) return section.data;
  }
  return nullptr;
}

uint32_t FindOrAddGemmOp(const GemmShape& shape, const GemmBackend& backend, Model* model) {
  for (uint32_t i = 0; i < model->gemm_op_count; ++i) {
    const GemmOp& op = model->gemm_ops[i];
    if (op.backend == &backend && op.shape.type == shape.type && op.shape.n == shape.n && op.shape.k == shape.k)
      return i;
  }
  model->gemm_ops[model->gemm_op_count] = {shape, &backend};
  return model->gemm_op_count++;
}

Status PlaceLinears(Arena& arena, Reporter& reporter, Model* model) {
  const Blob& blob = model->blob;
  uint32_t count = 0;
  FOVEA_TRY(ForEachLinear(blob, [&](const GemmWeights&, uint32_t) -> Status {
    return ++count <= kMaxLinears ? kOk
                                  : reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many linear layers", kMaxLinears, count);
  }));
  model->linears = arena.Take<Linear>(count);
  model->gemm_ops = arena.Take<GemmOp>(count);
  model->layers_of_operation = arena.Take<uint32_t>(uint64_t{blob.operations.count} * kMaxLayers);
  model->packed_section = FindPackedSection(blob, *model->backend, count);
  const PackedRecord* packed_table = reinterpret_cast<const PackedRecord*>(model->packed_section);
  FOVEA_TRY(ForEachLinear(blob, [&](const GemmWeights& weights, uint32_t k) -> Status {
    const GemmBackend& backend = Choose(weights.shape, *model->backend);
    const uint64_t bytes = backend.packed_bytes(weights.shape);
    void* own = nullptr;
    if (bytes != 0 && model->packed_section == nullptr) {
      own = arena.TakeBytes(bytes);
      model->packed_bytes += bytes;
    }
    if (arena.counting() || !arena.ok()) return kOk;
    Linear& linear = model->linears[k];
    linear = {weights, &backend, nullptr, FindOrAddGemmOp(weights.shape, backend, model)};
    if (own != nullptr) {
      memset(own, 0, bytes);  // padding too: the same weights give the same bytes
      FOVEA_TRY(backend.pack(weights, own, reporter));
      linear.packed = own;
    } else if (bytes != 0) {
      linear.packed = model->packed_section + packed_table[k].offset;
    }
    return kOk;
  }));
  model->linear_count = count;
  return kOk;
}

// A bound on the segments of a space bounds those of the space they follow from, which stands before it. Tables are as
// long as fixed segments are and as selected ones can be (CheckPositions).
void BoundSources(Model* model) {
  const Blob& blob = model->blob;
  for (uint32_t i = blob.spaces.count; i-- > 0;) {
    const SpaceRecord& space = blob.spaces[i];
    uint32_t& bound = model->max_segment_rows[i];
    const bool own = space.kind == SpaceKind::kFixed || (space.kind == SpaceKind::kSelected && space.extra != 0);
    if (own) bound = space.extra;
    if (own || !SpaceHasSource(space.kind) || bound == UINT32_MAX) continue;
    uint64_t left = bound;
    if (space.kind == SpaceKind::kExtended) left = bound > space.extra ? bound - space.extra : 0;
    if (space.kind == SpaceKind::kStrided) left = Strides(space).Longest(bound);
    uint32_t& source = model->max_segment_rows[space.source];
    if (left < source) source = static_cast<uint32_t>(left);
  }
}

bool SameWeights(const GemmWeights& a, const GemmWeights& b) {  // equal rows may differ in scales
  return a.rows == b.rows && a.scales == b.scales && a.bias == b.bias && a.shape.n == b.shape.n &&
         a.shape.k == b.shape.k && a.shape.type == b.shape.type;
}

void LimitIds(uint32_t value, uint32_t most, Model* model) {
  uint32_t& limit = model->id_limits[value];
  if (limit == 0 || most < limit) limit = most;
}

// Which linear layer an operation is, how long segments may be where positions are looked up, how large ids may be.
Status FillTables(Model* model) {
  const Blob& blob = model->blob;
  memset(model->max_segment_rows, 0xff, blob.spaces.count * sizeof(uint32_t));
  memset(model->layers_of_operation, 0xff, size_t{blob.operations.count} * kMaxLayers * sizeof(uint32_t));
  FOVEA_TRY(ForEachOperation(blob, [&](const OpView& view, uint32_t index, const ProgramRecord& program) -> Status {
    GemmWeights weights;
    for (uint32_t i = 0; i < kMaxLayers && FindLayer(view, i, &weights); ++i) {
      uint32_t k = 0;
      while (!SameWeights(model->linears[k].weights, weights)) ++k;
      model->layers_of_operation[size_t{index} * kMaxLayers + i] = k;
    }
    switch (OpCode(view.record->code)) {
      case OpCode::kPosition:
      case OpCode::kRotate: {
        const uint32_t rows = view.Tensor(0).rows - view.U32(Attribute::kOffset, 0);
        uint32_t& bound = model->max_segment_rows[view.Output().space];
        if (rows < bound) bound = rows;
        break;
      }
      case OpCode::kAttention: {
        uint32_t& bound = model->max_segment_rows[view.Input(1).space];
        bound = KeysOfPairBias(view) < bound ? KeysOfPairBias(view) : bound;
        break;
      }
      case OpCode::kEmbed:
        for (uint32_t i = 0; i < view.record->input_count; ++i) {
          LimitIds(program.first_value + IdsOf(view, i), view.Tensor(i).rows, model);
        }
        break;
      case OpCode::kLexical:
        for (uint32_t i = 0; i < view.record->input_count && view.HasTensor(0); ++i) {
          LimitIds(program.first_value + IdsOf(view, i), view.Tensor(0).width, model);
        }
        break;
      default:
        break;
    }
    return kOk;
  }));
  BoundSources(model);
  return kOk;
}

}  // namespace

Status PlaceModel(const Blob& blob, const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model) {
  *model = Model();
  model->blob = blob;
  model->backend = &backend;
  if (!arena.counting()) model->kernels = GetKernels();
  FOVEA_TRY(PlaceLinears(arena, reporter, model));
  model->id_limits = arena.Take<uint32_t>(blob.values.count);
  model->max_segment_rows = arena.Take<uint32_t>(blob.spaces.count);
  if (!arena.counting() && arena.ok()) FOVEA_TRY(FillTables(model));
  if (blob.text.size != 0) {
    FOVEA_TRY(Tokenizer::Open(blob.text.data, blob.text.size, 0, reporter, &model->tokenizer));
    model->has_text = true;
  }
  return kOk;
}

}  // namespace fovea
