#include "runtime/result/describe.h"

#include <initializer_list>

#include "runtime/model/find.h"
#include "runtime/ops/attention.h"

namespace fovea {
namespace {

bool Is(const char* text, const char* word) { return text != nullptr && strcmp(text, word) == 0; }

// The outputs of a program, by name and by the rows they have.
class Outputs {
 public:
  Outputs(const Model& model, uint32_t program)
      : model_(model), record_(model.blob.programs[program]), first_(record_.first_value) {}

  // Index of the output with this name, or kBlobNone.
  uint32_t Find(const char* name) const {
    const uint32_t value = FindValue(model_, record_, name);
    return value != kBlobNone && IsOutput(value) ? value : kBlobNone;
  }
  // The first output, with a row for each text if `per_text`.
  uint32_t First(bool per_text) const {
    for (uint32_t value = 0; value < record_.value_count; ++value) {
      if (IsOutput(value) && (!per_text || IsPerText(value))) return value;
    }
    return kBlobNone;
  }
  bool IsPerText(uint32_t value) const { return model_.blob.spaces[At(value).space].parent == kBlobNone; }
  const ValueRecord& At(uint32_t value) const { return model_.blob.values[first_ + value]; }

  uint32_t Embedding() const {
    for (const char* name : {"sentence_embedding", "pooler_output"}) {
      const uint32_t value = Find(name);
      if (value != kBlobNone && IsPerText(value)) return value;
    }
    const uint32_t whole = First(true);
    if (whole != kBlobNone) return whole;
    const uint32_t states = Find("last_hidden_state");
    return states != kBlobNone ? states : First(false);
  }

 private:
  bool IsOutput(uint32_t value) const { return At(value).role == ValueRole::kOutput; }

  const Model& model_;
  const ProgramRecord& record_;
  uint32_t first_;
};

// `weighs`: the model was published for weights of words.
uint32_t KindOf(const char* task, bool weighs, const Outputs& outputs) {
  if (Is(task, "sequence-classification")) return FOVEA_RESULT_CLASSES;
  if (Is(task, "token-classification")) return FOVEA_RESULT_TAGS;
  if (Is(task, "masked-lm")) return weighs ? FOVEA_RESULT_WORD_WEIGHTS : FOVEA_RESULT_WORDS;
  if (Is(task, "question-answering")) return FOVEA_RESULT_ANSWERS;
  const uint32_t logits = outputs.Find("logits");
  if (logits == kBlobNone || Is(task, "embedding")) return FOVEA_RESULT_EMBEDDING;
  return outputs.IsPerText(logits) ? FOVEA_RESULT_CLASSES : FOVEA_RESULT_TAGS;
}

uint32_t ActivationOf(const Blob& blob, const fovea_result_info& info) {
  if (info.kind == FOVEA_RESULT_EMBEDDING || info.kind == FOVEA_RESULT_ANSWERS) return FOVEA_ACTIVATION_NONE;
  if (info.kind != FOVEA_RESULT_CLASSES) return FOVEA_ACTIVATION_SOFTMAX;
  const char* problem = FindMetadata(blob, "problem_type");
  if (info.width == 1) {
    return Is(FindMetadata(blob, "score_activation"), "sigmoid") ? FOVEA_ACTIVATION_SIGMOID : FOVEA_ACTIVATION_NONE;
  }
  if (Is(problem, "regression")) return FOVEA_ACTIVATION_NONE;
  return Is(problem, "multi_label_classification") ? FOVEA_ACTIVATION_SIGMOID : FOVEA_ACTIVATION_SOFTMAX;
}

Status ReadMeasure(const Blob& blob, const char* task, Reporter& reporter, uint32_t* measure) {
  const char* similarity = FindMetadata(blob, "similarity");
  if (Is(FindMetadata(blob, "interaction"), "late")) {
    *measure = FOVEA_MEASURE_MAX_SIM;
  } else if (similarity == nullptr) {
    *measure = Is(task, "masked-lm") ? FOVEA_MEASURE_DOT : FOVEA_MEASURE_COSINE;
  } else {
    const char* const names[] = {"cosine", "dot", "euclidean", "manhattan"};
    *measure = 0;
    while (*measure < 4 && !Is(similarity, names[*measure])) ++*measure;
    if (*measure == 4) return reporter.Fail(FOVEA_E_OPTION, "metadata similarity has an unknown value");
  }
  return kOk;
}

// Tasks whose outputs are no results of a text.
Status CheckTask(const char* task, Reporter& reporter) {
  if (Is(task, "causal-lm")) {
    return reporter.Fail(FOVEA_E_NAME,
                         "the model generates text: use fovea/generate.h, or name an output; fovea convert --task "
                         "embedding makes a model of its hidden states");
  }
  if (Is(task, "seq2seq-lm")) {
    return reporter.Fail(FOVEA_E_NAME,
                         "the model generates text: use fovea/generate.h, or name an output; fovea convert --task "
                         "encoder makes a model of its encoder");
  }
  return kOk;
}

// Metadata word_weights: the pooling of a text's tokens and the activation of their scores.
Status ReadWordWeights(const char* rule, Reporter& reporter, fovea_result_info* info) {
  const bool sums = strncmp(rule, "sum ", 4) == 0, known = sums || strncmp(rule, "max ", 4) == 0;
  const bool twice = known && strcmp(rule + 4, "log1p_relu") == 0;
  if (!known || (!twice && strcmp(rule + 4, "relu") != 0)) {
    return reporter.Fail(FOVEA_E_OPTION, "metadata word_weights has an unknown value");
  }
  info->pooling = sums ? FOVEA_POOLING_SUM : FOVEA_POOLING_MAX;
  info->activation = twice ? FOVEA_ACTIVATION_LOG1P_TWICE : FOVEA_ACTIVATION_LOG1P;
  return kOk;
}

// The outputs of answers: one number for each token that a text's answer starts there, ends there.
Status FindAnswerOutputs(const Outputs& outputs, Reporter& reporter, uint32_t* starts) {
  *starts = outputs.Find("start_logits");
  const uint32_t ends = outputs.Find("end_logits");
  if (*starts == kBlobNone || ends == kBlobNone) {
    return reporter.Fail(FOVEA_E_NAME,
                         "the program has no outputs start_logits and end_logits, the scores of its task");
  }
  const ValueRecord &one = outputs.At(*starts), &other = outputs.At(ends);
  if (one.width == 1 && other.width == 1 && one.space == other.space && one.type == other.type) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "start_logits and end_logits need one f32 number for each token", 1,
                       one.width != 1 ? one.width : other.width);
}

}  // namespace

Status DescribeResult(const Model& model, uint32_t program, const char* output, Reporter& reporter,
                      fovea_result_info* info) {
  const Blob& blob = model.blob;
  if (program >= blob.programs.count) {
    return reporter.Fail(FOVEA_E_INDEX, "the program does not exist", blob.programs.count, program);
  }
  const Outputs outputs(model, program);
  const char *task = FindMetadata(blob, "task"), *word_weights = FindMetadata(blob, "word_weights");
  info->program = program;
  if (output != nullptr) {
    info->kind = FOVEA_RESULT_EMBEDDING;
    info->value = outputs.Find(output);
    if (info->value == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the program has no output of this name");
  } else {
    FOVEA_TRY(CheckTask(task, reporter));
    info->kind = KindOf(task, word_weights != nullptr, outputs);
    if (info->kind == FOVEA_RESULT_ANSWERS) {
      FOVEA_TRY(FindAnswerOutputs(outputs, reporter, &info->value));
    } else {
      info->value = info->kind == FOVEA_RESULT_EMBEDDING ? outputs.Embedding() : outputs.Find("logits");
    }
    if (info->value == kBlobNone) {
      return reporter.Fail(FOVEA_E_NAME, info->kind == FOVEA_RESULT_EMBEDDING
                                             ? "the program has no outputs"
                                             : "the program has no output logits, the scores of its task");
    }
  }
  reporter.tensor = info->value;
  const ValueRecord& value = outputs.At(info->value);
  if (value.type != static_cast<uint32_t>(DType::kF32)) {
    return reporter.Fail(FOVEA_E_OPTION, "results are read from f32 outputs only", FOVEA_TYPE_F32, value.type);
  }
  reporter.tensor = FOVEA_NOWHERE;
  info->width = info->kind == FOVEA_RESULT_ANSWERS ? 2 : value.width;
  const bool pools = info->kind == FOVEA_RESULT_EMBEDDING && !outputs.IsPerText(info->value);
  info->pooling = pools ? FOVEA_POOLING_MEAN : FOVEA_POOLING_NONE;
  info->activation = ActivationOf(blob, *info);
  if (info->kind == FOVEA_RESULT_WORD_WEIGHTS) FOVEA_TRY(ReadWordWeights(word_weights, reporter, info));
  info->normalize = 0;
  return ReadMeasure(blob, task, reporter, &info->measure);
}

Status FindExplainingTap(const Model& model, uint32_t program, uint32_t space, Reporter& reporter, fovea_tap* tap) {
  const Blob& blob = model.blob;
  if (program >= blob.programs.count) {
    return reporter.Fail(FOVEA_E_INDEX, "the program does not exist", blob.programs.count, program);
  }
  if (space >= blob.spaces.count) {
    return reporter.Fail(FOVEA_E_INDEX, "the space does not exist", blob.spaces.count, space);
  }
  const char* name = FindMetadata(blob, "explain.", blob.String(blob.spaces[space].name));
  const ProgramRecord& record = blob.programs[program];
  for (uint32_t i = 0; name != nullptr && i < record.operation_count; ++i) {
    const Op& op = model.Operation(record, i);
    if (AsAttention(op) == nullptr || strcmp(StepName(model, record, i), name) != 0) continue;
    *tap = {};
    tap->step = i;
    tap->reduce = FOVEA_REDUCE_MEAN;
    if (op.inputs[0].space == op.inputs[1].space) {  // the first row of each segment
      tap->rows = FOVEA_TAP_ROWS_STRIDE;
      tap->stride = UINT32_MAX;
    }
    return kOk;
  }
  return reporter.Fail(FOVEA_E_NAME, "metadata names no attention step that explains the rows of this space", 0, space);
}

}  // namespace fovea
