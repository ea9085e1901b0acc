// The encoder that BERT and its relatives share: embeddings, layers with the norm after each residual, and their
// heads. An architecture says how its tensors are named and where it differs.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_POST_NORM_ENCODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_POST_NORM_ENCODER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// Names of tensors without ".weight" and ".bias". Those of encoder and pooler follow the prefix that checkpoints with a
// head have.
struct LayerNames {
  std::string query, key, value, output, attention_norm;
  std::string up, down, norm;
};

// Where a layer attends: <at>query, <at>key and <at>value are there, made from x.
struct AttentionSite {
  uint32_t layer;
  std::string x;
  std::string at;           // what names of the layer's values begin with
  const LayerNames& names;  // as they are stored
};

// Computed from the embeddings and added to what layer 0 makes: norm(layer 0 + activation(convolution)).
struct EmbeddingConvolution {
  std::string name;  // of its tensors, weights [width, width, an odd number of rows]
  std::string norm;
  std::string activation;
};

struct PostNormEncoder {
  // ---- names ----
  std::string prefix;             // "bert": checkpoints with a head say bert.embeddings..
  std::string stack = "encoder";  // what layers begin with
  std::string projection = "";    // from embedding width to hidden width, if they differ
  bool projects_before_norm = false;
  std::function<LayerNames(uint32_t)> layer;
  EmbeddingConvolution convolution;  // without a name: none
  std::string pooler = "";           // after the prefix, too
  Head sequence;                     // without a dense layer: the pooler, with tanh
  Head token = {"", "", "", "classifier"};
  Head language;  // without an activation: that of the layers
  std::string language_bias;
  bool tied = true;  // its matrix is that of the words, where config.json does not say

  // ---- numbers ----
  uint32_t layers = 0;            // attention layers in all
  uint32_t layers_per_state = 1;  // that make one hidden state
  uint32_t heads = 0;
  double epsilon = 0;
  std::string activation;
  uint32_t first_position = 0;     // row of the position table that a text's first token gets
  bool positioned = true;          // there is a position table
  std::string distance_bias = "";  // a tensor for every attention
  double word_scale = 1;           // of word embeddings
  // Tables that are added to word embeddings, after "embeddings.", by rows that inputs of ids name.
  std::vector<std::pair<std::string, std::string>> added = {};  // input, table

  // ---- attention that is not plain ----
  std::function<void(ProgramBuilder&)> begin;                                   // writes what all layers share
  std::function<std::string(ProgramBuilder&, const AttentionSite&)> attention;  // returns the rows that were attended

  // ---- projections of layers that are not plain: as ProgramBuilder::Linear ----
  std::function<std::string(ProgramBuilder&, const std::string& in, const std::string& name, const std::string& out,
                            const std::string& activation)>
      linear = {};
};

// Fills heads, activation, epsilon, layers and their names as most of the family have them. `activation`: as
// configurations call it, where this one does not.
PostNormEncoder EncoderFromConfig(const Config& config, const std::string& activation = "gelu");
// With BERT's heads besides.
PostNormEncoder BertFromConfig(const Config& config, const std::string& activation = "gelu");
// With RoBERTa's positions and heads besides.
PostNormEncoder RobertaFromConfig(const Config& config);

// The prefix of the checkpoint at hand: "" or prefix + ".".
std::string StoredPrefix(const PostNormEncoder& encoder, const Weights& weights);

void DescribePostNormEncoder(const PostNormEncoder& encoder, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_POST_NORM_ENCODER_H_
