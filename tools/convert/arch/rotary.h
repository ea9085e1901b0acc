// Rotary positions as configurations describe them: frequencies, and how long texts change them.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_

#include <string>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

struct RotaryPositions {
  std::string table;             // cosines and sines of every position; or
  std::string frequencies;       // a tensor; without both nothing turns
  std::string long_frequencies;  // of texts of more than `short_up_to` tokens; or
  double stretch = 0;            // how much the frequencies of these are stretched; 0: not at all
  uint32_t short_up_to = 0;
  double factor = 1;  // of cosines and sines
  bool interleaved = false;

  bool none() const { return table.empty() && frequencies.empty(); }
};

// Where configurations keep what newer ones have in rope_parameters, or in rope_parameters.<layer type>.
struct RotaryKeys {
  const char* theta = "rope_theta";
  double absent = 10000;                 // theta where nothing says it
  const char* scaling = "rope_scaling";  // an object like rope_parameters; null: there is none
};

// Reads them for heads of which `dims` columns are turned, and adds the tensors rotary.<name>. Types of scaling:
// default, linear, dynamic, llama3, yarn, longrope; others are refused, as are keys that a type does not have.
RotaryPositions ReadRotary(const Config& config, const RotaryKeys& keys, uint32_t dims, const std::string& name,
                           Weights& weights);

// The columns of a head where `heads` of them fill the width that `width_key` names, which they must.
uint32_t HeadSize(const Config& config, const char* width_key, uint32_t heads);

// Columns that turn: head_size * partial_rotary_factor (or another key), rounded down.
uint32_t RotaryDims(const Config& config, uint32_t head_size, const char* key = "partial_rotary_factor",
                    double absent = 1);

std::string AddRotate(const RotaryPositions& rotary, ProgramBuilder& builder, const std::string& x, uint32_t heads,
                      const std::string& out);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_ROTARY_H_
