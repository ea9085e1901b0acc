#include "runtime/model/model.h"

#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"
#include "runtime/model/layers.h"
#include "runtime/model/lower.h"

namespace fovea {
namespace {

const GemmBackend& Choose(const GemmShape& shape, const GemmBackend& preferred) {
  return preferred.supports(shape) ? preferred : HighwayGemm();
}

// Counts the memory of a blob's linear layers while its operations are lowered.
class LayerScan {
 public:
  LayerScan(const Blob& blob, const GemmBackend& preferred) : blob_(blob), preferred_(preferred), table_(blob) {
    uint64_t layout = 0;  // computed when first needed
    for (uint32_t i = 0; i < blob.sections.count; ++i) {
      const SectionRecord& record = blob.sections[i];
      if (record.kind != SectionKind::kPacked) continue;
      if (layout == 0) layout = preferred.packed_layout();
      if (record.layout == layout) fitting_ |= uint64_t{1} << i;
    }
  }

  // Numbers the layers of one operation.
  Status Add(uint32_t operation, Op& op, Op* const* ops, const OpView& view, Reporter& reporter) {
    for (uint32_t i = 0; i < op.layer_count; ++i) {
      const uint32_t known = table_.count();
      if (!table_.Number(operation, i, op.layer_count, ops, &op.layers[i].number)) {
        return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many linear layers", kMaxLinears, uint64_t{kMaxLinears} + 1);
      }
      if (table_.count() == known) continue;
      const GemmWeights weights = WeightsOf(view, op.layers[i]);
      const GemmShape& shape = weights.shape;
      const uint64_t bytes = Linear::PackedBytes(Choose(shape, preferred_), shape, op.layers[i].count);
      if (weights.rows == nullptr) (bytes == 0 ? reads_absent_ : packs_absent_) = true;
      packed_bytes_ += bytes;
      aligned_bytes_ += CheckedSize(RoundUp(bytes, kAlignment));
      KeepFitting(known, bytes, weights.rows != nullptr);
    }
    return kOk;
  }

  uint32_t count() const { return table_.count(); }
  uint64_t packed_bytes() const { return packed_bytes_; }
  CheckedSize aligned_bytes() const { return aligned_bytes_; }
  // Some weights are neither in the blob's rows nor packed for this backend on this machine.
  bool lacks_weights() const { return reads_absent_ || (packs_absent_ && packed_section() == nullptr); }
  // The first packed section that fits this machine's layout for `preferred` and whose table is right; else null.
  const uint8_t* packed_section() const {
    for (uint32_t i = 0; i < blob_.sections.count; ++i) {
      if ((fitting_ >> i & 1) != 0) return blob_.Section(i).data;
    }
    return nullptr;
  }

 private:
  // Drops the packed sections whose record of this layer is wrong. A layer with rows need not be packed.
  void KeepFitting(uint32_t layer, uint64_t bytes, bool has_rows) {
    for (uint32_t i = 0; i < blob_.sections.count; ++i) {
      if ((fitting_ >> i & 1) == 0) continue;
      const ByteRange section = blob_.Section(i);
      bool fits = section.size / sizeof(PackedRecord) > layer;
      if (fits) {
        const PackedRecord& packed = reinterpret_cast<const PackedRecord*>(section.data)[layer];
        fits = (packed.size == bytes || (packed.size == 0 && has_rows)) && packed.offset % kBlobAlignment == 0 &&
               InBounds(packed.offset, packed.size, section.size);
      }
      if (!fits) fitting_ &= ~(uint64_t{1} << i);
    }
  }

  const Blob& blob_;
  const GemmBackend& preferred_;
  LayerTable table_;
  uint64_t fitting_ = 0;  // one bit per section
  static_assert(kMaxSections <= 64, "");
  bool packs_absent_ = false, reads_absent_ = false;  // the backend wants weights without rows packed, or in place
  uint64_t packed_bytes_ = 0;
  CheckedSize aligned_bytes_;
};

// Lowers all operations in one pass.
Status LowerOperations(Arena& arena, Reporter& reporter, Model* model, LayerScan* scan) {
  const Blob& blob = model->blob;
  uint64_t selections[kMaxSpaces];
  FindSelections(blob, selections);
  model->ops = arena.Take<Op*>(blob.operations.count);
  OpRoom room;
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    Lowerer lowerer(blob, program, selections);
    for (uint32_t i = 0; i < program.operation_count; ++i) {
      const uint32_t index = program.first_operation + i;
      reporter.step = i;
      Op* op = nullptr;
      FOVEA_TRY(lowerer.Lower(i, arena, &room, reporter, &op));
      FOVEA_TRY(scan->Add(index, *op, model->ops, lowerer.View(i), reporter));
      if (model->ops != nullptr && arena.ok()) model->ops[index] = op;
    }
  }
  reporter.step = FOVEA_NOWHERE;
  return kOk;
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

// Calls f(op, view, program) for every operation.
template <typename F>
void ForEachOperation(const Model& model, F f) {
  const Blob& blob = model.blob;
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    for (uint32_t i = 0; i < program.operation_count; ++i) {
      const uint32_t index = program.first_operation + i;
      f(*model.ops[index], OpView{&blob, &blob.operations[index], blob.values.data + program.first_value}, program);
    }
  }
}

// Allocates the linear layers; with memory, also fills in their weights and where their packed weights are or will be.
void PlaceLinears(const LayerScan& scan, Arena& arena, Model* model) {
  model->linear_count = scan.count();
  model->linears = arena.Take<Linear>(scan.count());
  model->gemm_ops = arena.Take<GemmOp>(scan.count());
  model->packed_section = scan.packed_section();
  model->lacks_weights = scan.lacks_weights();
  uint8_t* own = nullptr;
  if (model->packed_section == nullptr) {
    model->packed_bytes = scan.packed_bytes();
    own = static_cast<uint8_t*>(arena.TakeBytes(scan.aligned_bytes()));
  }
  if (arena.counting() || !arena.ok()) return;
  const auto* table = reinterpret_cast<const PackedRecord*>(model->packed_section);
  uint32_t known = 0;
  ForEachOperation(*model, [&](Op& op, const OpView& view, const ProgramRecord&) {
    for (uint32_t i = 0; i < op.layer_count; ++i) {
      OpLayer& layer = op.layers[i];
      layer.linear = &model->linears[layer.number];
      if (layer.number < known) continue;  // layers are numbered in order of first use
      const GemmWeights weights = WeightsOf(view, layer);
      const bool reads_rows = table != nullptr && table[known].size == 0;
      const GemmBackend& backend = reads_rows ? HighwayGemm() : Choose(weights.shape, *model->backend);
      Linear& linear = model->linears[known];
      linear = {weights,
                layer.count,
                &backend,
                nullptr,
                FindOrAddGemmOp(weights.shape, backend, model),
                backend.takes_pairs(weights.shape)};
      const uint64_t bytes = linear.packed_bytes();
      if (bytes != 0) {
        linear.packed = own != nullptr ? own : model->packed_section + table[known].offset;
        if (own != nullptr) own += RoundUp(bytes, kAlignment);
      }
      ++known;
    }
  });
}

// Passes the bound on a space's segments on to the space that they derive from, which precedes it. Fixed and selected
// spaces with `extra` have their own bound; position tables are at least as long (CheckPositions).
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

// A sequence is as long as its cached rows, and its positions are looked up in the source's tables.
void BoundCached(Model* model) {
  const Blob& blob = model->blob;
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceRecord& space = blob.spaces[i];
    if (space.kind != SpaceKind::kCached) continue;
    const uint32_t source = model->max_segment_rows[space.source];
    if (source < model->max_segment_rows[i]) model->max_segment_rows[i] = source;
  }
}

void LimitIds(uint32_t value, uint32_t most, Model* model) {
  uint32_t& limit = model->id_limits[value];
  if (limit == 0 || most < limit) limit = most;
}

// Fills the tables of limits: lengths of segments whose positions are looked up, and sizes of ids.
void FillTables(Model* model) {
  const Blob& blob = model->blob;
  memset(model->max_segment_rows, 0xff, blob.spaces.count * sizeof(uint32_t));
  ForEachOperation(*model, [&](const Op& op, const OpView&, const ProgramRecord& program) {
    if (op.def->segment_limit != nullptr) {
      const SegmentLimit limit = op.def->segment_limit(op);
      uint32_t& bound = model->max_segment_rows[limit.space];
      if (limit.rows < bound) bound = limit.rows;
    }
    for (uint32_t i = 0; i < op.input_count && op.def->id_limit != nullptr; ++i) {
      const IdLimit limit = op.def->id_limit(op, i);
      if (limit.limit != 0) LimitIds(program.first_value + limit.value, limit.limit, model);
    }
  });
  BoundSources(model);
  BoundCached(model);
}

// The metadata and the tokenizer of a blob, without its programs and what they refer to.
[[maybe_unused]] Blob WithoutPrograms(Blob blob) {
  blob.spaces.count = blob.tensors.count = blob.programs.count = 0;
  blob.values.count = blob.operations.count = 0;
  return blob;
}

[[maybe_unused]] Status PlacePrograms(const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model) {
  const Blob& blob = model->blob;
  LayerScan scan(blob, backend);
  FOVEA_TRY(LowerOperations(arena, reporter, model, &scan));
  PlaceLinears(scan, arena, model);
  model->id_limits = arena.Take<uint32_t>(blob.values.count);
  model->max_segment_rows = arena.Take<uint32_t>(blob.spaces.count);
  if (!arena.counting() && arena.ok()) {
    model->kernels = GetKernels();
    FillTables(model);
  }
  return kOk;
}

}  // namespace

Status PlaceModel(const Blob& blob, const GemmBackend& backend, Arena& arena, Reporter& reporter, Model* model) {
  *model = Model();
  model->blob = blob;
  model->backend = &backend;
  if constexpr (!kHasOperations) model->blob = WithoutPrograms(blob);
  FOVEA_TRY(CheckRecords(model->blob, reporter));
  if constexpr (kHasOperations) FOVEA_TRY(PlacePrograms(backend, arena, reporter, model));
  if (blob.text.size != 0) {
    FOVEA_TRY(Tokenizer::Open(blob.text.data, blob.text.size, 0, reporter, &model->tokenizer));
    model->has_text = true;
  }
  return kOk;
}

Status PackModel(Model& model, Reporter& reporter) {
  if constexpr (!kHasOperations) return kOk;
  for (uint32_t i = 0; i < model.linear_count; ++i) {
    const Linear& linear = model.linears[i];
    if (linear.packed == nullptr) continue;
    // Padding is cleared as well, so that equal weights give equal bytes.
    void* packed = const_cast<void*>(linear.packed);  // memory that the model owns
    if (model.packed_section == nullptr) memset(packed, 0, static_cast<size_t>(linear.packed_bytes()));
    for (uint32_t k = 0; k < linear.count; ++k) {
      const GemmWeights weights = linear.WeightsAt(k);
      if (weights.rows == nullptr) continue;  // nothing to compare with: only the sizes were checked
      FOVEA_TRY(model.packed_section != nullptr
                    ? linear.backend->check_layout(weights, reporter)
                    : linear.backend->pack(weights, const_cast<void*>(linear.PackedAt(k)), reporter));
    }
  }
  return kOk;
}

}  // namespace fovea
