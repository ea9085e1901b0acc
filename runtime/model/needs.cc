#include "runtime/model/needs.h"

#include <initializer_list>

#include "runtime/blob/attributes.h"
#include "runtime/blob/included.h"
#include "runtime/blob/op_names.h"
#include "runtime/blob/operands.h"
#include "runtime/model/find.h"
#include "runtime/ops/attention.h"

namespace fovea {
namespace {

// ---- Lines that a profile may contain

struct Line {
  const char *kind, *name;
};
constexpr Line kAttentionLines[] = {
#define FOVEA_ATTENTION_FEATURE(name, Name) {"attention", #name},
#include "runtime/kernels/attention_feature_list.inc"
#undef FOVEA_ATTENTION_FEATURE
};
struct StepLine {
  text::StepKind kind;
  const char* name;
};
constexpr StepLine kSteps[] = {
#define FOVEA_TEXT_STEP(number, name, Name) {text::StepKind::k##Name, #name},
#include "runtime/text/step_list.inc"
#undef FOVEA_TEXT_STEP
};
constexpr Line kOtherLines[] = {
    {"weights", "f32"},     {"weights", "f16"},       {"weights", "int8"},      {"weights", "int4"},
    {"rows", "f16"},        {"rows", "bf16"},         {"rows", "int8"},         {"tokenizer", "wordpiece"},
    {"tokenizer", "bpe"},   {"tokenizer", "unigram"}, {"part", "errors"},       {"part", "taps"},
    {"part", "generation"}, {"part", "answers"},      {"generate", "sampling"}, {"generate", "beams"},
    {"generate", "drafts"}, {"cell", "peepholes"},    {"limit", "spaces"},      {"limit", "linears"},
    {"limit", "inputs"},    {"limit", "workers"},
};

// "KIND *" lists every name of the kind, which must have names without a number.
constexpr bool Says(const char* line, const char* kind, const char* name) {
  return AfterLine(line, kind, name) != nullptr ||
         (AfterLine(line, kind, "*") != nullptr && AfterWord(line, "limit") == nullptr);
}
template <typename Enum>
constexpr bool SaysMember(const char* line) {
  for (const Named<Enum>& member : NamesOf<Enum>::list) {
    if (Says(line, kProfileLine<Enum>.kind, member.name)) return true;
  }
  return false;
}
constexpr bool IsKnown(const char* line) {
  for (const Line& known : kAttentionLines) {
    if (Says(line, known.kind, known.name)) return true;
  }
  for (const Line& known : kOtherLines) {
    if (Says(line, known.kind, known.name)) return true;
  }
  for (const StepLine& known : kSteps) {
    if (Says(line, "text", known.name)) return true;
  }
  return SaysMember<OpCode>(line) || SaysMember<Activation>(line) || SaysMember<NormKind>(line) ||
         SaysMember<PoolKind>(line) || SaysMember<CellKind>(line);
}
// Number of the first unknown line, from 1 on; 0: all lines are known.
constexpr uint32_t UnknownLine() {
  uint32_t number = 0;
  for (const char* line = kProfile; *line != 0; line = NextLine(line)) {
    ++number;
    if (!IsKnown(line)) return number;
  }
  return 0;
}
static_assert(UnknownLine() == 0,
              "the profile has an unknown line, whose number, without comments, is below: see runtime/base/README.md");

// ---- Lines that a model needs
//
// The operations named below are those whose attributes or tensors choose a member of another list of the profile. That
// does not depend on which rows an operation mixes (op_list.inc); an operation not named here needs its own line only.

uint64_t BitOf(uint32_t number) { return uint64_t{1} << number; }

struct Needs {
  uint64_t operations = 0, activations = 0, norms = 0, pools = 0, cells = 0;
  bool peepholes = false;
  uint64_t weights = 0, rows = 0;  // one bit per DType
  AttentionFeatures attention = 0;
  uint32_t inputs = 1;  // per operation

  void AddAttention(const AttentionOp& op) {
    attention |= FeaturesOf(op);
    const RelativeScores& relative = op.spec.score.relative;
    if (relative.keys != nullptr) weights |= BitOf(static_cast<uint32_t>(relative.keys_type));
    if (relative.queries != nullptr) weights |= BitOf(static_cast<uint32_t>(relative.queries_type));
  }

  void AddCell(const OpView& view) {
    const uint32_t kind = view.U32(Attribute::kCell, 0);
    cells |= BitOf(kind);
    peepholes = peepholes || view.Has(CellTensor::kPeepholes);
    // The functions of gates belong to the cell.
    if (kind == static_cast<uint32_t>(CellKind::kRnn)) {
      activations |= BitOf(view.U32(Attribute::kActivation, static_cast<uint32_t>(Activation::kTanh)));
    }
  }

  void Add(const OpView& view, const Op& op) {
    const auto code = static_cast<OpCode>(view.record->code);
    operations |= BitOf(view.record->code);
    if (op.input_count > inputs) inputs = op.input_count;
    if (op.layer_count > 0) weights |= BitOf(view.Tensor(0).type);
    for (uint32_t i = 0; code == OpCode::kEmbed && i < view.record->tensor_count; ++i) {
      weights |= BitOf(view.Tensor(i).type);
    }
    if (code == OpCode::kNorm) norms |= BitOf(view.U32(Attribute::kKind, 0));
    if (code == OpCode::kPool) pools |= BitOf(view.U32(Attribute::kKind, 0));
    if (code == OpCode::kAppend) attention |= Bit(AttentionFeature::kInPlace);  // for runs with few rows
    if (code == OpCode::kCell || code == OpCode::kRecurrent) {
      AddCell(view);
    } else {
      activations |= BitOf(view.U32(Attribute::kActivation, 0));
    }
    if (code == OpCode::kAttention || code == OpCode::kReceived) AddAttention(static_cast<const AttentionOp&>(op));
  }
};

using ListLine = void (*)(void* context, const char* kind, const char* name, uint32_t count);

template <typename Enum>
void ListMembers(uint64_t members, const char* kind, ListLine line, void* context) {
  for (const Named<Enum>& member : NamesOf<Enum>::list) {
    if ((members & BitOf(static_cast<uint32_t>(member.number))) != 0) line(context, kind, member.name, 0);
  }
}

void ListText(const Tokenizer& tokenizer, ListLine line, void* context) {
  const char* const models[] = {"wordpiece", "unigram", "bpe"};
  line(context, "tokenizer", models[tokenizer.header.model - 1], 0);
  for (const StepLine& step : kSteps) {
    for (const text::Table<text::Step>& table : {tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder}) {
      bool used = false;
      for (uint32_t i = 0; i < table.size; ++i) used = used || table[i].kind == static_cast<uint32_t>(step.kind);
      if (used) line(context, "text", step.name, 0);
    }
  }
}

}  // namespace

void ListNeeds(const Model& model, ListLine line, void* context) {
  const Blob& blob = model.blob;
  Needs needs;
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    for (uint32_t i = 0; i < program.operation_count; ++i) {
      const OperationRecord& record = blob.operations[program.first_operation + i];
      needs.Add({&blob, &record, blob.values.data + program.first_value}, model.Operation(program, i));
    }
  }
  for (uint32_t i = 0; i < blob.values.count; ++i) needs.rows |= BitOf(blob.values[i].type);
  const uint64_t plain = BitOf(static_cast<uint32_t>(DType::kF32)) | BitOf(static_cast<uint32_t>(DType::kI32));

  ListMembers<OpCode>(needs.operations, kProfileLine<OpCode>.kind, line, context);
  for (uint32_t i = 0; i < sizeof(kAttentionLines) / sizeof(Line); ++i) {
    if ((needs.attention >> i & 1) != 0) line(context, kAttentionLines[i].kind, kAttentionLines[i].name, 0);
  }
  ListMembers<Activation>(needs.activations & ~uint64_t{1}, kProfileLine<Activation>.kind, line, context);
  ListMembers<NormKind>(needs.norms, kProfileLine<NormKind>.kind, line, context);
  ListMembers<PoolKind>(needs.pools, kProfileLine<PoolKind>.kind, line, context);
  ListMembers<CellKind>(needs.cells, kProfileLine<CellKind>.kind, line, context);
  if (needs.peepholes) line(context, "cell", "peepholes", 0);
  ListMembers<DType>(needs.weights, "weights", line, context);
  ListMembers<DType>(needs.rows & ~plain, "rows", line, context);
  if (model.has_text) ListText(model.tokenizer, line, context);
  if (FindMetadataEntry(blob, "generate.token") != kBlobNone) line(context, "part", "generation", 0);
  const char* task = FindMetadata(blob, "task");
  if (task != nullptr && strcmp(task, "question-answering") == 0) line(context, "part", "answers", 0);
  line(context, "limit", "spaces", blob.spaces.count);
  line(context, "limit", "linears", model.linear_count);
  line(context, "limit", "inputs", needs.inputs);
}

}  // namespace fovea
