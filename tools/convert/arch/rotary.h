// Rotary positions (RoPE) as configurations describe them: frequencies, and how they change for long texts.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_

#include <string>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

struct RotaryPositions {
  std::string table = "";             // a tensor: cosines and sines of every position; or
  std::string frequencies = "";       // a tensor; without both nothing is rotated
  std::string long_frequencies = "";  // a tensor for texts of more than `short_up_to` tokens; or
  double stretch = 0;                 // how much the frequencies are stretched for such texts; 0: not at all
  uint32_t short_up_to = 0;
  double factor = 1;  // multiplies cosines and sines
  bool interleaved = false;

  bool none() const { return table.empty() && frequencies.empty(); }
};

// Keys of older configurations; newer ones have rope_parameters, or rope_parameters.<layer type>.
struct RotaryKeys {
  const char* theta = "rope_theta";
  double absent = 10000;                 // theta if no key has it
  const char* scaling = "rope_scaling";  // an object like rope_parameters; null: there is none
};

// Reads them for heads of which `dims` columns are rotated, and adds the tensors rotary.<name>. Types of scaling are
// default, linear, dynamic, llama3, yarn and longrope; another type, or a key that a type does not have, fails.
RotaryPositions ReadRotary(const Config& config, const RotaryKeys& keys, uint32_t dims, const std::string& name,
                           Weights& weights);

// The number of columns of a head: `width_key` of config.json over `heads`. Fails unless it is a whole number.
uint32_t HeadSize(const Config& config, const char* width_key, uint32_t heads);

// The number of columns that are rotated: head_size * partial_rotary_factor (or another key), rounded down.
uint32_t RotaryDims(const Config& config, uint32_t head_size, const char* key = "partial_rotary_factor",
                    double absent = 1);

std::string AddRotate(const RotaryPositions& rotary, ProgramBuilder& builder, const std::string& x, uint32_t heads,
                      const std::string& out);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_
