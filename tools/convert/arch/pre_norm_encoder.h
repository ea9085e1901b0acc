// The encoder that later models share: norms in front of attention and feed-forward (and after them, before the
// residual is added, in some), rotary positions or a bias by distance, windows, gated feed-forward, a norm at the end.
// An architecture names what its layers have; what has no name is not there.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_PRE_NORM_ENCODER_H_
#define FOVEA_TOOLS_CONVERT_ARCH_PRE_NORM_ENCODER_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/encoder_builder.h"

namespace fovea::tools {

// Names of tensors as they are stored, without ".weight" and ".bias".
struct PreNormLayer {
  std::string attention_norm;  // of what attention reads
  std::string query, key, value, output;
  std::string query_norm, key_norm;  // of each head by itself
  std::string attention_out_norm;    // of what is added to the residual
  std::string rotary;                // a table: its rows turn queries and keys
  std::optional<uint32_t> window;    // keys seen on each side; absent: all
  std::string norm;                  // of what the feed-forward layers read
  std::string gate;                  // activated and multiplied with up; empty: up is activated itself
  std::string up, down;
  std::string out_norm;
};

struct PreNormEncoder {
  std::string table;  // of word embeddings: a whole name
  double table_scale = 1;
  std::string embedding_norm;
  std::vector<PreNormLayer> layers;
  std::string final_norm;
  bool last_state_is_normed = true;  // the last of the hidden states is what the final norm makes

  NormStyle norms;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;        // 0: as many
  std::optional<double> scale;  // of attention; absent: 1 / sqrt(head size)
  std::string distance_bias;    // a tensor for every attention
  std::string activation;
  Heads task_heads;
};

// The layers and the final norm after the value `x`, which is hidden state 0: the name of what they make.
std::string AddPreNormLayers(const PreNormEncoder& encoder, EncoderBuilder& builder, const std::string& x);
// A whole program: word embeddings, layers, heads.
void DescribePreNormEncoder(const PreNormEncoder& encoder, const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_PRE_NORM_ENCODER_H_
