// Writes a program over texts or images.
#include "tools/convert/arch/program_builder.h"

#include <algorithm>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/arch/cross_encoder.h"
#include "tools/convert/arch/tied_head.h"
#include "tools/convert/constants.h"
#include "tools/convert/operands.h"

namespace fovea::tools {

ProgramBuilder::ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms)
    : ProgramBuilder(checkpoint, description, std::move(norms), {{"texts"}, {"tokens", "texts"}},
                     {"input_ids", "tokens"}) {}

ProgramBuilder::ProgramBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms,
                               std::vector<Space> spaces, Input input, std::string name)
    : checkpoint_(checkpoint), description_(description), weights_(description.weights), norms_(std::move(norms)) {
  for (Space& space : spaces) {
    const auto same = [&](const Space& known) { return known.name == space.name; };
    if (std::none_of(description_.spaces.begin(), description_.spaces.end(), same)) {
      description_.spaces.push_back(std::move(space));
    }
  }
  program_.name = std::move(name);
  program_.inputs.push_back(std::move(input));
}

std::string ProgramBuilder::Op(const std::string& op, std::vector<std::string> in, std::vector<std::string> tensors,
                               const std::string& out, Json attributes, const std::string& space) {
  if (program_.operations.size() == kMaxOperations) Fail("config.json: more than {} operations", kMaxOperations);
  program_.operations.push_back({op, std::move(in), std::move(tensors), out, std::move(attributes), "", space});
  return out;
}

std::vector<std::string> ProgramBuilder::Stored(const std::string& name) const {
  const std::string weight = name + ".weight", bias = name + ".bias";
  if (!weights_.Has(weight)) Fail("no tensor {}", weight);
  return weights_.Has(bias) ? std::vector<std::string>{weight, bias} : std::vector<std::string>{weight};
}

std::string ProgramBuilder::Linear(const std::string& in, const std::string& name, const std::string& out,
                                   const std::string& activation) {
  Json attributes = Json::object();
  if (activation != "none") attributes["activation"] = activation;
  return Layer("linear", {in}, name, out, attributes);
}

std::string ProgramBuilder::Layer(const std::string& op, std::vector<std::string> in, const std::string& name,
                                  const std::string& out, Json attributes) {
  return Op(op, std::move(in), Stored(name), out, std::move(attributes));
}

std::string ProgramBuilder::Norm(const std::string& in, const std::string& name, const std::string& out,
                                 uint32_t heads) {
  std::vector<std::string> tensors = Stored(name);
  Json attributes = {{"kind", norms_.kind}, {"epsilon", norms_.epsilon}};
  if (norms_.weight_offset != 0) attributes["weight_offset"] = norms_.weight_offset;
  if (heads != 1) attributes["heads"] = heads;
  return Op("norm", {in}, tensors, out, attributes);
}

std::string ProgramBuilder::HeadNorm(const std::string& in, const std::string& name, const std::string& out,
                                     uint32_t heads, const std::string& of) {
  const Constant norm = weights_.Get(name + ".weight");
  return Norm(in, name, out, norm.rows == 1 && norm.width == weights_.Get(of + ".weight").rows ? 1 : heads);
}

std::string ProgramBuilder::Arrange(const std::string& in, const std::string& table, const std::string& space,
                                    const std::string& out) {
  return Op("arrange", {in}, {table}, out, Json::object(), space);
}

std::string ProgramBuilder::Attention(const std::string& name, std::vector<std::string> in, const AttentionTensors& t,
                                      const std::string& out, Json attributes) {
  const NamedOperands tensors = {
#define FOVEA_INPUT(number, name, Name, presence)
#define FOVEA_TENSOR(number, name, Name, presence, storage) {#name, t.name},
#include "runtime/blob/attention_operand_list.inc"
#undef FOVEA_INPUT
#undef FOVEA_TENSOR
  };
  Op("attention", std::move(in), InOrder(TensorsOf(OpCode::kAttention), tensors), out, std::move(attributes));
  program_.operations.back().name = name;
  return out;
}

void ProgramBuilder::InputOfIds(const std::string& name, uint32_t id) {
  program_.inputs.push_back({name, "tokens"});
  description_.SetMetadata("default." + name, std::to_string(id));
}

std::string ProgramBuilder::HiddenState(uint32_t index) const { return fmt::format("hidden_states.{}", index); }

std::string ProgramBuilder::LastHiddenState(uint32_t index) {
  if (checkpoint_.task != Task::kEmbedding && checkpoint_.task != Task::kEncoder) return HiddenState(index);
  description_.SetMetadata("alias." + HiddenState(index), "last_hidden_state");
  return "last_hidden_state";
}

void ProgramBuilder::Finish(const std::string& last, const Heads& heads) {
  switch (checkpoint_.task) {
    case Task::kBackbone:
      break;
    case Task::kEmbedding:
    case Task::kEncoder:
      EmbeddingHead(last, heads);
      break;
    case Task::kSequenceClassification:
      SequenceHead("sequence-classification", last, heads);
      break;
    case Task::kMultipleChoice:
      ChoiceHead(last, heads);
      break;
    case Task::kNextSentence:
      NextSentenceHead(last, heads);
      break;
    case Task::kQuestionAnswering:
      SpanHead(last, heads.span);
      break;
    case Task::kImageClassification:
      SequenceHead("image-classification", last, heads);
      break;
    case Task::kSemanticSegmentation:
      Fail("config.json: this architecture has no segmentation head");
    case Task::kTokenClassification:
      TokenHead(last, heads.token);
      break;
    case Task::kMaskedLm:
      LanguageHead("masked-lm", last, heads);
      break;
    case Task::kCausalLm:
      LanguageHead("causal-lm", last, heads);
      break;
    case Task::kAudioClassification:
      SequenceHead("audio-classification", last, heads);
      break;
    case Task::kCtc:
    case Task::kXVector:
      Fail("config.json: this architecture has no speech head");
    case Task::kText:
    case Task::kImage:
      Fail(
          "config.json: this architecture has no separate encoders of text and images; leave --task text or image out");
    case Task::kSequenceToSequence:
      Fail("config.json: this architecture has no decoder");
  }
  End();
}

void ProgramBuilder::End() { description_.programs.push_back(std::move(program_)); }

void ProgramBuilder::EmbeddingHead(const std::string& last, const Heads& heads) {
  description_.SetMetadata("task", "embedding");
  program_.outputs = {last};
  if (!heads.pooler.empty() && weights_.Has(heads.pooler + ".weight")) {
    Op("pool", {last}, {}, "first_token", {{"kind", "first"}});
    program_.outputs.push_back(Linear("first_token", heads.pooler, "pooler_output", heads.pooler_activation));
  } else if (heads.mean_pooler) {
    program_.outputs.push_back(Op("pool", {last}, {}, "pooler_output", {{"kind", "mean"}}));
  }
}

void ProgramBuilder::SequenceHead(const std::string& task, const std::string& last, const Heads& heads) {
  CheckHead(heads.sequence, "classification");
  description_.SetMetadata("task", task);
  Op("pool", {last}, {}, "pooled", {{"kind", heads.sequence_pool}});
  const std::string value = BeforeOut("pooled", heads.sequence);
  program_.outputs = {Linear(value, heads.sequence.out, "logits")};
  Labels(heads.sequence.out);
}

void ProgramBuilder::CheckHead(const Head& head, const char* what) const {
  if (head.out.empty()) {
    Fail("config.json: this architecture has no head for {}; --task embedding converts the encoder without one", what);
  }
  for (const std::string& layer : {head.dense, head.norm, head.out}) {
    if (layer.empty() || weights_.Has(layer + ".weight")) continue;
    // The original library would make it up at random, with a warning.
    Fail("no tensor {}.weight: the head for {} is not stored; --task {} converts the encoder without it", layer, what,
         checkpoint_.config.Flag("is_encoder_decoder", false) ? "encoder" : "embedding");
  }
}

void ProgramBuilder::ChoiceHead(const std::string& last, const Heads& heads) {
  CheckHead(heads.choice, "multiple choice");
  description_.SetMetadata("task", "multiple-choice");
  Op("pool", {last}, {}, "pooled", {{"kind", heads.sequence_pool}});
  program_.outputs = {Linear(BeforeOut("pooled", heads.choice), heads.choice.out, "logits")};
  const uint32_t rows = weights_.Get(heads.choice.out + ".weight").rows;
  if (rows != 1) Fail("tensor {}.weight has {} rows, but a choice has one score", heads.choice.out, rows);
}

void ProgramBuilder::NextSentenceHead(const std::string& last, const Heads& heads) {
  CheckHead(heads.next, "the next sentence");
  description_.SetMetadata("task", "next-sentence-prediction");
  Op("pool", {last}, {}, "pooled", {{"kind", "first"}});
  program_.outputs = {Linear(BeforeOut("pooled", heads.next), heads.next.out, "logits")};
  const uint32_t rows = weights_.Get(heads.next.out + ".weight").rows;
  if (rows != 2) Fail("tensor {}.weight has {} rows, not one for yes and one for no", heads.next.out, rows);
  // config.json does not name these classes.
  description_.SetMetadata("label.0", "follows");
  description_.SetMetadata("label.1", "does not follow");
}

void ProgramBuilder::SpanHead(const std::string& last, const Head& head) {
  CheckHead(head, "question answering");
  description_.SetMetadata("task", "question-answering");
  const std::string both = Linear(BeforeOut(last, head), head.out, "span_logits");
  const uint32_t rows = weights_.Get(head.out + ".weight").rows;
  if (rows != 2) Fail("tensor {}.weight has {} rows, not one for the start and one for the end", head.out, rows);
  Op("slice", {both}, {}, "start_logits", {{"begin", 0u}, {"width", 1u}});
  Op("slice", {both}, {}, "end_logits", {{"begin", 1u}, {"width", 1u}});
  program_.outputs = {"start_logits", "end_logits"};
}

void ProgramBuilder::TokenHead(const std::string& last, const Head& head) {
  CheckHead(head, "classification of tokens");
  description_.SetMetadata("task", "token-classification");
  program_.outputs = {Linear(BeforeOut(last, head), head.out, "logits")};
  Labels(head.out);
}

void ProgramBuilder::LanguageHead(const char* task, const std::string& last, const Heads& heads) {
  description_.SetMetadata("task", task);
  program_.outputs = {Scores(last, heads)};
}

std::string ProgramBuilder::Scores(const std::string& in, const Heads& heads, const std::string& prefix) {
  std::string value = BeforeOut(in, heads.language, prefix);
  // A row is narrower than its scores.
  if (heads.score_scale != 1) value = Op("scale", {value}, {}, prefix + "head.scaled", {{"scale", heads.score_scale}});
  const std::string own = heads.language.out + ".weight";
  // A head without a name for its matrix always shares the embeddings.
  const bool tied = checkpoint_.config.Flag("tie_word_embeddings", heads.tied) || heads.language.out.empty();
  if (!tied && !weights_.Has(own)) {
    // The original library makes it up at random, with a warning.
    Fail(
        "no tensor {}: tie_word_embeddings is false, so the head has its own matrix, and it is not stored; add it, or "
        "set tie_word_embeddings to true in config.json if it is the table of embeddings ({}), or"
        " convert without the head (--task {})",
        own, heads.language_table, checkpoint_.task == Task::kSequenceToSequence ? "encoder" : "embedding");
  }
  if (tied) ReportTied(heads.language.out, heads.language_table, description_);
  std::vector<std::string> tensors = {tied ? heads.language_table : own};
  for (const std::string& bias : {heads.language_bias, heads.language.out + ".bias"}) {
    if (tensors.size() == 1 && weights_.Has(bias)) tensors.push_back(bias);
  }
  if (tensors.size() == 2 && heads.score_scale != 1)
    Fail("tensor {}: a bias is not supported where scores are scaled", tensors[1]);
  const std::string out = prefix + "logits";
  if (heads.score_cap == 0) return Op("linear", {value}, tensors, out);
  Op("linear", {value}, tensors, out + ".whole");
  Op("scale", {out + ".whole"}, {}, out + ".parts", {{"scale", 1 / heads.score_cap}});
  Op("activate", {out + ".parts"}, {}, out + ".capped", {{"activation", "tanh"}});
  return Op("scale", {out + ".capped"}, {}, out, {{"scale", heads.score_cap}});
}

std::string ProgramBuilder::BeforeOut(std::string value, const Head& head, const std::string& prefix) {
  if (!head.dense.empty()) value = Linear(value, head.dense, prefix + "head.dense", head.activation);
  return head.norm.empty() ? value : Norm(value, head.norm, prefix + "head.normed");
}

void ProgramBuilder::Labels(const std::string& classifier) {
  const Json& labels = checkpoint_.config.Get("id2label");
  const uint32_t count = weights_.Get(classifier + ".weight").rows;
  // The original library refuses a classifier whose size differs from config.json's.
  const Json& number = checkpoint_.config.Get("num_labels");
  const bool listed = labels.is_object() && !labels.empty();
  const uint64_t expected = listed ? labels.size() : number.is_null() ? count : checkpoint_.config.Number("num_labels");
  if (expected != count) {
    Fail("tensor {}.weight has {} rows, but config.json: {} has {} classes; make both the same", classifier, count,
         listed ? "id2label" : "num_labels", expected);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Json label = labels.is_object() ? labels.value(std::to_string(i), Json()) : Json();
    description_.SetMetadata(fmt::format("label.{}", i),
                             label.is_string() ? label.get<std::string>() : fmt::format("LABEL_{}", i));
  }
  const std::string kind = checkpoint_.config.Text("problem_type", "");
  if (!kind.empty()) description_.SetMetadata("problem_type", kind);
  if (count == 1) DescribeScore(checkpoint_, description_);
  checkpoint_.config.Ignore({"sentence_transformers", "sbert_ce_default_activation_function"});
}

void RefuseBiases(const Checkpoint& checkpoint, const Weights& weights, const std::string& key, bool absent,
                  const std::vector<std::string>& layers) {
  if (checkpoint.config.Flag(key, absent)) return;
  for (const std::string& name : weights.Stored()) {
    for (const std::string& layer : layers) {
      const std::string end = layer + ".bias";
      if (name.size() < end.size() || name.compare(name.size() - end.size(), end.size(), end) != 0) continue;
      Fail("config.json: {} is false, but tensor {} is stored", key, name);
    }
  }
}

void SplitLinear(Weights& weights, const std::string& name, const std::vector<std::string>& parts) {
  const auto count = static_cast<uint32_t>(parts.size());
  const Constant whole = weights.Get(name + ".weight");
  if (whole.rows % count != 0) Fail("tensor {}.weight cannot be split into {} equal parts", name, count);
  std::vector<std::pair<std::string, uint32_t>> rows;
  for (const std::string& part : parts) rows.emplace_back(part, whole.rows / count);
  SplitRows(weights, name, rows);
}

void SplitRows(Weights& weights, const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& parts) {
  for (const bool bias : {false, true}) {
    const char* kind = bias ? ".bias" : ".weight";
    if (bias && !weights.Has(name + kind)) continue;
    const Constant whole = weights.Get(name + kind);
    uint32_t end = 0;
    for (const auto& [part, rows] : parts) {
      const Range range = {end, end + rows};
      end += rows;
      if (rows == 0 || end > (bias ? whole.width : whole.rows)) break;
      weights.Add(fmt::format("{}.{}{}", name, part, kind), bias ? Slice(whole, {}, range) : Slice(whole, range));
    }
    if (end != (bias ? whole.width : whole.rows))
      Fail("tensor {}{} does not have as many rows as its parts together", name, kind);
  }
}

std::string ScaleLayer(Weights& weights, const std::string& name, const std::string& factors) {
  for (const char* kind : {".weight", ".bias"}) {
    if (kind == std::string(".bias") && !weights.Has(name + kind)) continue;
    weights.Add(name + ".scaled" + kind, ScaleRows(weights.Get(name + kind), weights.Get(factors)));
  }
  return name + ".scaled";
}

void SplitGroups(Weights& weights, const std::string& name, uint32_t groups, uint32_t queries, uint32_t size) {
  const auto rows = [&](uint32_t first, uint32_t heads) {
    std::vector<uint32_t> numbers;
    for (uint32_t g = 0; g < groups; ++g) {
      for (uint32_t i = 0; i < heads * size; ++i) numbers.push_back((g * (queries + 2) + first) * size + i);
    }
    return numbers;
  };
  for (const char* kind : {".weight", ".bias"}) {
    if (kind == std::string(".bias") && !weights.Has(name + kind)) continue;
    const Constant whole = weights.Get(name + kind);
    const uint64_t stored = whole.rows == 1 ? whole.width : whole.rows;
    if (stored != uint64_t{groups} * (queries + 2) * size)
      Fail("tensor {}{} does not have as many rows as its heads together", name, kind);
    weights.Add(name + ".query" + kind, Pick(whole, rows(0, queries)));
    weights.Add(name + ".key" + kind, Pick(whole, rows(queries, 1)));
    weights.Add(name + ".value" + kind, Pick(whole, rows(queries + 1, 1)));
  }
}

}  // namespace fovea::tools
