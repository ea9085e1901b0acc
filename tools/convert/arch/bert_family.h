// Stacks whose embeddings, layers and heads are named as BERT's or RoBERTa's, with the norm after each residual sum. A
// family sets the names and numbers in which it differs; attention that is not plain is set on the stack.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_BERT_FAMILY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_BERT_FAMILY_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// Names of tensors without ".weight" and ".bias". Those of layers, projection and pooler follow the root: the prefix of
// checkpoints with a head, and a dot, or nothing.
struct BertLike {
  std::string prefix;              // "bert" in bert.embeddings.word_embeddings.weight
  std::string module = "encoder";  // that layers are in
  std::function<StackLayer(const std::string& root, uint32_t i)> layer;
  std::string projection;  // from embedding width to hidden size; empty: there is none
  Projected projected = Projected::kNormed;
  std::string pooler;
  Head sequence;  // without a dense layer: the pooler, with tanh
  Head token = {.out = "classifier"};
  Head span = {.out = "qa_outputs"};
  Head choice = {.out = "classifier"};  // without a dense layer: the pooler, with tanh
  Head next;                            // the same
  Head language;                        // without an activation: that of the layers
  std::string language_bias;
  bool tied = true;  // the head's matrix is the table of words, unless config.json has tie_word_embeddings

  uint32_t layers = 0;  // attention layers in all
  uint32_t heads = 0;
  double epsilon = 0;
  std::string activation;
  uint32_t first_position = 0;    // row of the position table for the first token of a text
  bool positioned = true;         // there is a position table
  double word_scale = 1;          // multiplies word embeddings
  std::vector<AddedTable> added;  // besides token types; tables follow "embeddings."
};

// Sets heads, activation, epsilon, layers and their names by BERT's keys and names. `activation`: the published name of
// the one to use if config.json has none.
BertLike EncoderFromConfig(const Config& config, const std::string& activation = "gelu");
// The same, and BERT's heads.
BertLike BertFromConfig(const Config& config, const std::string& activation = "gelu");
// The same, and RoBERTa's positions and heads.
BertLike RobertaFromConfig(const Config& config);
// RoBERTa's heads.
void SetRobertaHeads(BertLike& family);

// The root of stored names: "" or prefix + ".".
std::string RootOf(const BertLike& family, const Weights& weights);

// The stack; adds its tensors and metadata to the description.
LayerStack BertStack(const BertLike& family, Description& description);
void DescribeBertLike(const BertLike& family, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_BERT_FAMILY_H_
