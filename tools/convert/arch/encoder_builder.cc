// Writes the program of an encoder.
#include "tools/convert/arch/encoder_builder.h"

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

EncoderBuilder::EncoderBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms)
    : EncoderBuilder(checkpoint, description, std::move(norms), {{"texts"}, {"tokens", "texts"}},
                     {"input_ids", "tokens"}) {}

EncoderBuilder::EncoderBuilder(const Checkpoint& checkpoint, Description& description, NormStyle norms,
                               std::vector<Space> spaces, Input input)
    : checkpoint_(checkpoint), description_(description), weights_(description.weights), norms_(std::move(norms)) {
  description_.spaces = std::move(spaces);
  program_.name = "encode";
  program_.inputs.push_back(std::move(input));
}

std::string EncoderBuilder::Op(const std::string& op, std::vector<std::string> in, std::vector<std::string> tensors,
                               const std::string& out, Json attributes, const std::string& space) {
  if (program_.operations.size() == kMaxOperations) Fail("config.json: more than {} operations", kMaxOperations);
  program_.operations.push_back({op, std::move(in), std::move(tensors), out, std::move(attributes), "", space});
  return out;
}

std::vector<std::string> EncoderBuilder::Stored(const std::string& name) const {
  const std::string weight = name + ".weight", bias = name + ".bias";
  if (!weights_.Has(weight)) Fail("no tensor {}", weight);
  return weights_.Has(bias) ? std::vector<std::string>{weight, bias} : std::vector<std::string>{weight};
}

std::string EncoderBuilder::Linear(const std::string& in, const std::string& name, const std::string& out,
                                   const std::string& activation) {
  std::vector<std::string> tensors = Stored(name);
  Json attributes = Json::object();
  if (activation != "none") attributes["activation"] = activation;
  return Op("linear", {in}, tensors, out, attributes);
}

std::string EncoderBuilder::Norm(const std::string& in, const std::string& name, const std::string& out,
                                 uint32_t heads) {
  std::vector<std::string> tensors = Stored(name);
  Json attributes = {{"kind", norms_.kind}, {"epsilon", norms_.epsilon}};
  if (norms_.weight_offset != 0) attributes["weight_offset"] = norms_.weight_offset;
  if (heads != 1) attributes["heads"] = heads;
  return Op("norm", {in}, tensors, out, attributes);
}

std::string EncoderBuilder::Arrange(const std::string& in, const std::string& table, const std::string& space,
                                    const std::string& out) {
  return Op("arrange", {in}, {table}, out, Json::object(), space);
}

std::string EncoderBuilder::Attention(const std::string& name, std::vector<std::string> in,
                                      std::vector<std::string> tensors, const std::string& out, Json attributes) {
  while (!tensors.empty() && tensors.back().empty()) tensors.pop_back();
  Op("attention", std::move(in), std::move(tensors), out, std::move(attributes));
  program_.operations.back().name = name;
  return out;
}

void EncoderBuilder::InputOfIds(const std::string& name, uint32_t id) {
  program_.inputs.push_back({name, "tokens"});
  description_.SetMetadata("default." + name, std::to_string(id));
}

std::string EncoderBuilder::HiddenState(uint32_t index) const { return fmt::format("hidden_states.{}", index); }

std::string EncoderBuilder::LastHiddenState(uint32_t index) {
  if (checkpoint_.task != Task::kEmbedding && checkpoint_.task != Task::kEncoder) return HiddenState(index);
  description_.SetMetadata("alias." + HiddenState(index), "last_hidden_state");
  return "last_hidden_state";
}

void EncoderBuilder::Finish(const std::string& last, const Heads& heads) {
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
    case Task::kImageClassification:
      SequenceHead("image-classification", last, heads);
      break;
    case Task::kTokenClassification:
      TokenHead(last, heads.token);
      break;
    case Task::kMaskedLm:
      LanguageHead("masked-lm", last, heads);
      break;
    case Task::kCausalLm:
      LanguageHead("causal-lm", last, heads);
      break;
  }
  End();
}

void EncoderBuilder::End() { description_.programs.push_back(std::move(program_)); }

void EncoderBuilder::EmbeddingHead(const std::string& last, const Heads& heads) {
  description_.SetMetadata("task", "embedding");
  program_.outputs = {last};
  if (!heads.pooler.empty() && weights_.Has(heads.pooler + ".weight")) {
    Op("pool", {last}, {}, "first_token", {{"kind", "first"}});
    program_.outputs.push_back(Linear("first_token", heads.pooler, "pooler_output", heads.pooler_activation));
  } else if (heads.mean_pooler) {
    program_.outputs.push_back(Op("pool", {last}, {}, "pooler_output", {{"kind", "mean"}}));
  }
}

void EncoderBuilder::SequenceHead(const std::string& task, const std::string& last, const Heads& heads) {
  description_.SetMetadata("task", task);
  Op("pool", {last}, {}, "pooled", {{"kind", heads.sequence_pool}});
  const std::string value = BeforeOut("pooled", heads.sequence);
  program_.outputs = {Linear(value, heads.sequence.out, "logits")};
  Labels(heads.sequence.out);
}

void EncoderBuilder::TokenHead(const std::string& last, const Head& head) {
  description_.SetMetadata("task", "token-classification");
  program_.outputs = {Linear(BeforeOut(last, head), head.out, "logits")};
  Labels(head.out);
}

void EncoderBuilder::LanguageHead(const char* task, const std::string& last, const Heads& heads) {
  description_.SetMetadata("task", task);
  const std::string value = BeforeOut(last, heads.masked_lm);
  const std::string own = heads.masked_lm.out + ".weight";
  const bool tied = checkpoint_.config.Flag("tie_word_embeddings", true) || !weights_.Has(own);
  std::vector<std::string> tensors = {tied ? heads.masked_lm_table : own};
  for (const std::string& bias : {heads.masked_lm_bias, heads.masked_lm.out + ".bias"}) {
    if (tensors.size() == 1 && weights_.Has(bias)) tensors.push_back(bias);
  }
  program_.outputs = {Op("linear", {value}, tensors, "logits")};
}

std::string EncoderBuilder::BeforeOut(std::string value, const Head& head) {
  if (!head.dense.empty()) value = Linear(value, head.dense, "head.dense", head.activation);
  return head.norm.empty() ? value : Norm(value, head.norm, "head.normed");
}

void EncoderBuilder::Labels(const std::string& classifier) {
  const Json& labels = checkpoint_.config.Get("id2label");
  const uint32_t count = weights_.Get(classifier + ".weight").rows;
  for (uint32_t i = 0; i < count; ++i) {
    const Json label = labels.is_object() ? labels.value(std::to_string(i), Json()) : Json();
    description_.SetMetadata(fmt::format("label.{}", i),
                             label.is_string() ? label.get<std::string>() : fmt::format("LABEL_{}", i));
  }
  const std::string kind = checkpoint_.config.Text("problem_type", "");
  if (!kind.empty()) description_.SetMetadata("problem_type", kind);
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
  for (const bool bias : {false, true}) {
    const char* kind = bias ? ".bias" : ".weight";
    if (bias && !weights.Has(name + kind)) continue;
    const Constant whole = weights.Get(name + kind);
    const uint32_t size = bias ? whole.width : whole.rows, step = size / count;
    if (step == 0 || size % count != 0) Fail("tensor {}{} does not fall into {} equal parts", name, kind, count);
    for (uint32_t i = 0; i < count; ++i) {
      const Range range = {i * step, (i + 1) * step};
      weights.Add(fmt::format("{}.{}{}", name, parts[i], kind), bias ? Slice(whole, {}, range) : Slice(whole, range));
    }
  }
}

}  // namespace fovea::tools
