// Transformers in double precision, written as plainly as possible: what relatives of known families must compute. The
// caller states the members of the original's classes by name; nothing is shared with the converter.
#ifndef FOVEA_TESTS_CONVERT_DENSE_MODEL_H_
#define FOVEA_TESTS_CONVERT_DENSE_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fovea::test {

using DenseTensors = std::map<std::string, std::pair<std::vector<uint64_t>, std::vector<float>>>;
using DenseRows = std::vector<std::vector<double>>;

// Names without ".weight" and ".bias". An empty one is left out; "plain" is a norm without weights.
struct DenseLayer {
  std::string before, query, key, value, output, query_norm, key_norm, out, sum;  // attention
  std::string forward_before, gate, up, down, forward_out, forward_sum;           // feed-forward
  bool rotates = true;
  uint32_t window = 0;  // tokens that are seen, the token itself among them; 0: all
  std::function<double(uint32_t head, int64_t key_minus_query)> bias;
};

struct DenseModel {
  uint32_t heads = 2, kv_heads = 2, head = 4;
  double epsilon = 1e-5, weight_offset = 0;
  bool rms = true, causal = true, parallel = false;

  std::string words, positions, types;  // whole names
  uint32_t first_position = 0;
  double word_scale = 1;
  std::string embedding_norm;

  std::vector<DenseLayer> layers;
  std::string activation = "silu";  // "silu", "gelu", "gelu_tanh", "relu", "relu2"
  std::string final_norm;
  double residual_scale = 1, scale = 0, cap = 0, clip = 0;  // scale 0: 1 / sqrt(head)

  double theta = 10000;
  std::vector<double> divisors;  // for the frequencies
  uint32_t rotated = 0;          // columns of a head; 0: none
  bool interleaved = false, backwards = false, norm_after_rotary = false;

  DenseRows States(const DenseTensors& tensors, const std::vector<int32_t>& ids) const;
};

DenseRows DenseLinear(const DenseTensors& tensors, const DenseRows& x, const std::string& name);
double DenseActivation(const std::string& name, double x);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_CONVERT_DENSE_MODEL_H_
