// Encoder and decoder of one model.
#include "tools/convert/arch/sequence_to_sequence.h"

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/decoder.h"

namespace fovea::tools {
namespace {

class Model {
 public:
  Model(const LayerStack& encoder, const LayerStack& decoder, const Checkpoint& checkpoint, Description& description)
      : encoder_(encoder), decoder_(decoder), checkpoint_(checkpoint), description_(description) {
    spaces_ = SpacesOf(encoder_);
    const std::string root = spaces_[0].name;
    // Strided rows of the encoder are plain rows in programs of the decoder, which do not have the space they are made
    // of.
    const auto strided = [&](const Space& space) { return space.name == encoder_.space && !space.strides.empty(); };
    if (std::any_of(spaces_.begin(), spaces_.end(), strided)) {
      source_space_ = "source_rows";
      spaces_.push_back({source_space_, root});
    }
    spaces_.push_back({decoder_.space, root});
    spaces_.push_back({"beams", root});
    spaces_.push_back({"new_tokens", "beams"});
    steps_.space = "new_tokens";
    AddKeptSpaces(steps_, spaces_);
  }

  void Score() {
    ProgramBuilder builder = Program("score", InputOf(encoder_));
    builder.AddInput({decoder_.ids, decoder_.space});
    AddCrossValues(decoder_, builder, AddStack(encoder_, builder));
    FinishScoring(AddStack(decoder_, builder), decoder_.task_heads, builder);
  }

  void Encode() {
    ProgramBuilder builder = Program("encode", InputOf(encoder_));
    builder.Steps();
    AddCrossValues(decoder_, builder, AddStack(encoder_, builder));
    builder.Outputs(CrossValues());
    builder.End();
  }

  void Decode() {
    ProgramBuilder builder = Program("decode", {steps_.ids, steps_.space});
    for (const std::string& name : CrossValues()) {
      Input input = {name, source_space_, false, WidthOf(name)};
      builder.AddInput(input);
      description_.SetMetadata("generate.link." + name, name);
    }
    FinishDecoder(AddStack(steps_, builder, true), steps_.task_heads, builder);
    description_.SetMetadata("generate.alignment", fmt::format("cross_attentions.{}", steps_.layers.size() - 1));
  }

 private:
  ProgramBuilder Program(const char* name, Input input) {
    return ProgramBuilder(checkpoint_, description_, encoder_.norms, spaces_, std::move(input), name);
  }

  std::vector<std::string> CrossValues() const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < decoder_.layers.size(); ++i) {
      names.push_back(CrossValue("keys", i));
      names.push_back(CrossValue("values", i));
    }
    return names;
  }

  uint32_t WidthOf(const std::string& value) const {
    for (uint32_t i = 0; i < decoder_.layers.size(); ++i) {
      const AttentionNames& cross = decoder_.layers[i].cross;
      const std::string& layer = value == CrossValue("keys", i) ? cross.key : cross.value;
      if (value == CrossValue("keys", i) || value == CrossValue("values", i)) {
        return description_.weights.Get(layer + ".weight").rows;
      }
    }
    return 0;
  }

  const LayerStack& encoder_;
  const LayerStack& decoder_;
  const Checkpoint& checkpoint_;
  Description& description_;
  LayerStack steps_ = decoder_;  // for live beams, several for each source
  std::vector<Space> spaces_;
  std::string source_space_ = encoder_.space;
};

// The last of the hidden states is what the stack makes.
bool EndsWithState(const LayerStack& stack) { return stack.final_norm.empty() || stack.last_state_is_normed; }

// As the whole model calls what the encoder makes.
void NameAsWhole(const LayerStack& encoder, Description& description) {
  description.SetMetadata("alias.encoder_last_hidden_state", "last_hidden_state");
  const size_t layers = encoder.layers.size();
  const std::string last = EndsWithState(encoder) ? "last_hidden_state" : fmt::format("hidden_states.{}", layers);
  for (size_t i = 0; i < layers; ++i) {
    description.SetMetadata(fmt::format("alias.encoder_hidden_states.{}", i), fmt::format("hidden_states.{}", i));
    description.SetMetadata(fmt::format("alias.encoder_attentions.{}", i), fmt::format("attentions.{}", i));
  }
  description.SetMetadata(fmt::format("alias.encoder_hidden_states.{}", layers), last);
}

}  // namespace

void DescribeSequenceToSequence(LayerStack encoder, LayerStack decoder, const Checkpoint& checkpoint,
                                Description& description) {
  if (checkpoint.task != Task::kSequenceToSequence) {
    DescribeStack(encoder, checkpoint, description);
    if (checkpoint.task == Task::kEncoder) NameAsWhole(encoder, description);
    if (checkpoint.task == Task::kEmbedding) {
      description.findings.push_back({Topic::kNotUsed, "the decoder: --task seq2seq-lm converts it"});
    }
    return;
  }
  encoder.prefix = "encoder_";
  decoder.prefix = "decoder_";
  decoder.ids = "decoder_input_ids";
  decoder.space = "target_tokens";
  decoder.causal = true;
  if (EndsWithState(encoder)) {
    const size_t layers = encoder.layers.size();
    description.SetMetadata("alias.encoder_last_hidden_state", fmt::format("encoder_hidden_states.{}", layers));
  }
  Model model(encoder, decoder, checkpoint, description);
  model.Score();
  model.Encode();
  model.Decode();
  DescribeGeneration(checkpoint, description);
}

}  // namespace fovea::tools
