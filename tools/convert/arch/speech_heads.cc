// The end of encoders of speech.
#include "tools/convert/arch/speech_heads.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/ctc_vocabulary.h"
#include "tools/convert/arch/x_vector.h"

namespace fovea::tools {
namespace {

// Shares of the hidden states in a weighted sum: a softmax of stored numbers.
std::vector<double> StateShares(const Weights& weights, size_t states) {
  const char name[] = "layer_weights";
  const Constant stored = weights.Get(name);
  if (stored.rows != 1 || stored.width != states) {
    Fail("tensor {} is [{}, {}], not one number for each of {} hidden states", name, stored.rows, stored.width, states);
  }
  const std::vector<float> values = stored.load();
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const float value : values) sum += exp(value - largest);
  std::vector<double> shares;
  for (const float value : values) shares.push_back(exp(value - largest) / sum);
  if (!std::isfinite(sum)) Fail("tensor {} holds numbers that are not finite", name);
  return shares;
}

// The weighted sum of `values`.
std::string WeightedSum(ProgramBuilder& b, const std::vector<std::string>& values, const std::vector<double>& shares,
                        const std::string& out) {
  std::string sum;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool last = i + 1 == values.size();
    const std::string share = fmt::format("{}.share.{}", out, i);
    b.Op("scale", {values[i]}, {}, last && i == 0 ? out : share, {{"scale", shares[i]}});
    sum = i == 0 ? share : b.Op("add", {sum, share}, {}, last ? out : fmt::format("{}.sum.{}", out, i));
  }
  return out;
}

// From one row of a space to the next; 0 where it is not made of samples.
uint64_t SamplesOfRow(const std::vector<Space>& spaces, const std::string& name) {
  uint64_t samples = 1;
  std::string at = name;
  for (size_t i = spaces.size(); i-- > 0;) {  // what a space is made of comes before it
    if (spaces[i].name != at || spaces[i].strides.empty()) continue;
    samples *= spaces[i].by;
    at = spaces[i].strides;
  }
  return at == "samples" ? samples : 0;
}

}  // namespace

std::string AddGatedHalf(ProgramBuilder& builder, const std::string& in, uint32_t width, const std::string& out) {
  builder.Op("slice", {in}, {}, in + ".value", {{"begin", 0u}, {"width", width}});
  builder.Op("slice", {in}, {}, in + ".gate", {{"begin", width}, {"width", width}});
  return builder.Op("gate", {in + ".gate", in + ".value"}, {}, out, {{"activation", "sigmoid"}});
}

std::string AddGatedConvolution(Convolution convolution, Weights& weights, ProgramBuilder& builder,
                                const std::string& in, const std::string& out, const std::string& space) {
  const uint32_t rows = weights.Get(convolution.name + ".weight").rows;
  if (rows % 2 != 0) Fail("tensor {}.weight has {} filters, not two halves", convolution.name, rows);
  AddConvolution(convolution, weights, builder, in, out + ".convolved", space);
  return AddGatedHalf(builder, out + ".convolved", rows / 2, out);
}

std::vector<Space> AdaptedSpaces(const std::vector<Convolution>& convolutions, const Weights& weights,
                                 const std::string& of) {
  std::vector<Space> spaces;
  for (size_t i = 0; i < convolutions.size(); ++i) {
    spaces.push_back(
        ConvolvedSpace(convolutions[i], weights, fmt::format("adapted.{}", i), i == 0 ? of : spaces.back().name));
  }
  return spaces;
}

void FinishSpeech(const SpeechHeads& heads, const Checkpoint& checkpoint, Description& description,
                  ProgramBuilder& builder) {
  const Config& config = checkpoint.config;
  const bool weighted = config.Flag("use_weighted_layer_sum", false);
  const auto classify = [&](const char* task, const std::string& rows) {
    description.SetMetadata("task", task);
    builder.Outputs({builder.Linear(rows, "classifier", "logits")});
    builder.Labels("classifier");
    builder.End();
  };
  // The last layer's rows, or the weighted sum of all layers'.
  const auto states = [&] {
    if (!weighted) return heads.last;
    return WeightedSum(builder, heads.states, StateShares(description.weights, heads.states.size()), "weighed_states");
  };
  switch (checkpoint.task) {
    case Task::kCtc:
      description.SetMetadata("task", "ctc");
      DescribeCtcVocabulary(checkpoint, description.weights.Get("lm_head.weight").rows, description);
      if (const uint64_t samples = SamplesOfRow(description.spaces, heads.space); samples != 0) {
        description.SetMetadata("ctc.samples_per_row", std::to_string(samples));
      }
      builder.Outputs({builder.Linear(heads.last, "lm_head", "logits")});
      return builder.End();
    case Task::kSequenceClassification: {
      // The mean of what the projector makes is what it makes of the mean.
      std::vector<std::string> means;
      for (const std::string& state : weighted ? heads.states : std::vector<std::string>{heads.last}) {
        means.push_back(builder.Op("pool", {state}, {}, state + ".mean", {{"kind", "mean"}}, "clips"));
      }
      const std::string mean =
          weighted ? WeightedSum(builder, means, StateShares(description.weights, means.size()), "pooled") : means[0];
      return classify("sequence-classification", builder.Linear(mean, "projector", "head.projected"));
    }
    case Task::kTokenClassification:
      return classify("token-classification", states());
    case Task::kXVector:
      return FinishXVector(states(), heads.space, checkpoint, description, builder);
    case Task::kEmbedding:
    case Task::kEncoder:
      description.SetMetadata("task", "embedding");
      builder.Outputs({heads.last});
      return builder.End();
    default:
      Fail("config.json: head {} is not supported; --task embedding converts the encoder without it",
           Shown(config.Get("architectures")));
  }
}

}  // namespace fovea::tools
