// Metadata of a GGUF file that several families read, for the equivalent of config.json.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_SETTINGS_H_
#define FOVEA_TOOLS_CONVERT_GGUF_SETTINGS_H_

#include <string>

#include "runtime/blob/format.h"
#include "tools/convert/gguf/parts.h"

namespace fovea::tools {

inline constexpr WholeRange kGgufSizes = {1, kMaxWidth}, kGgufLayers = {0, 1024}, kGgufHeads = {1, 4096},
                            kGgufIds = {0, INT32_MAX}, kGgufPositions = {1, kMaxRecords};
inline constexpr RealRange kGgufFactors = {1e-6, 1e12};

struct GgufSettings {
  // Reads the sizes of layers and heads.
  GgufSettings(const GgufArchitecture& of, const GgufMetadata& in, const GgufTensors& with);

  const GgufArchitecture& architecture;
  const GgufMetadata& metadata;
  const GgufTensors& tensors;
  std::string type;  // the model_type
  uint32_t layers = 0, width = 0, heads = 0, kv_heads = 0;
  uint32_t size = 0, turned = 0;  // columns of a head, and the number with rotary positions

  JsonView Own(const std::string& key) const { return metadata.Own(key); }
  JsonView Needed(const std::string& key) const { return metadata.Needed(key); }
  bool Has(const std::string& key) const { return !Own(key).IsNull(); }
  bool HasTensor(const std::string& name) const { return tensors.count(name) != 0; }
  // Fails unless the key is absent or has this value.
  void Only(const std::string& key, const Json& supported) const;
  uint32_t Positions() const { return Needed("context_length").Number(kGgufPositions); }
  double Theta(double absent = 1e4) const { return Own("rope.freq_base").Real(kGgufFactors, absent); }
  // For RMS norms, and for all other norms.
  double RmsEpsilon() const { return Needed("attention.layer_norm_rms_epsilon").Real({0, 1}); }
  double Epsilon() const { return Needed("attention.layer_norm_epsilon").Real({0, 1}); }
  // `turned` as a part of `size` that yields `turned` when multiplied and rounded down.
  double TurnedPart() const { return turned == size ? 1 : (turned + 1e-6) / size; }
  // A number, or a list of equal numbers, one for each layer (zeros aside, where `or_none`).
  uint32_t OfLayers(const std::string& key, bool or_none = false, std::optional<uint32_t> absent = std::nullopt) const;
};

// Null: there is none.
Json GgufRopeScaling(const GgufSettings& settings);

// One of these adds the keys of a family; the rest is common.
void AddLlamaLike(const GgufSettings& settings, Json* config);  // decoders that arch/llama_like.h describes, and LFM2
void AddGptLike(const GgufSettings& settings, Json* config);    // decoders of arch/gpt_family.cc
void AddEncoder(const GgufSettings& settings, Json* config);    // BERT's relatives, T5

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_SETTINGS_H_
