// WavLM's attention: a bias by distance, times a gate of each query and head that depends on what the query reads.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_GATED_POSITIONS_H_
#define FOVEA_TOOLS_CONVERT_ARCH_GATED_POSITIONS_H_

#include <string>

#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

// Queries and keys have a column more in each head: the gate, and nothing. So the bias is that column of relative keys.
class GatedPositions {
 public:
  // `layers`: what names of layers begin with, "encoder.layers."; the first one has the biases of all.
  GatedPositions(const Config& config, const std::string& layers, uint32_t heads, Weights& weights);

  // Adds the tensors of layer i and names its queries and keys.
  void Widen(uint32_t i, AttentionNames& names);
  std::string Attend(ProgramBuilder& builder, const StackSite& site) const;

 private:
  std::string At(uint32_t i) const;
  void AddGate(const std::string& at);
  void AddWide(const std::string& from, const std::string& to);

  const std::string layers_;
  const uint32_t heads_;
  Weights& weights_;
  uint32_t size_ = 0;  // head size
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_GATED_POSITIONS_H_
