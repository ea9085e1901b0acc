// Measures how the cost of attention grows with the sequence length: time, memory and visited keys of each pattern,
// compared with convolution and recurrent layers of the same width, and the fitted exponents of the times.
#ifndef FOVEA_TOOLS_BENCH_ATTENTION_COST_H_
#define FOVEA_TOOLS_BENCH_ATTENTION_COST_H_

#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

#include "fovea/attention.h"

namespace fovea::tools {

// A pattern for n rows, with the arrays that it points to.
struct CostKeys {
  fovea_attention_pattern pattern = {};
  std::vector<uint32_t> global_keys;
  std::vector<int32_t> order, rank;
  std::vector<float> pair_bias;  // [n, n], or empty
};

struct CostPattern {
  std::string name, law;
  double predicted;      // exponent of n in the time
  uint32_t narrow_from;  // number of rows from which the law holds
  std::function<void(uint32_t n, uint32_t heads, CostKeys* keys)> make;
  uint32_t most_rows = UINT32_MAX;  // limit for patterns with large arrays
};
std::vector<CostPattern> CostPatterns();

struct CostPoint {
  double at;  // value of the variable
  double seconds;
  uint64_t bytes;  // inputs, outputs, scratch and weights
  double keys;  // visited per query and head; for a layer, rows that one step reads: the window of a convolution, or 1
  double flops;
};

// Measurements with one varying number.
struct CostSeries {
  std::string name, law, variable;  // "n", "w", "d" or "k"
  uint32_t rows;                    // if the variable is not n
  double predicted;                 // exponent of the variable
  double fitted;                    // from the points from `fitted_from` on; 0 with fewer than two
  double fitted_from;
  std::vector<CostPoint> points;
};

struct CostRequest {
  uint32_t max_n = 8192;
  uint32_t heads = 4, head_size = 64, workers = 1;
  uint32_t products = FOVEA_PRODUCTS_F32;
  double seconds = 0.2;  // least time per point; at least one run
};

// Least-squares slope of log(seconds) over log(at), for points from `from` on.
double FitExponent(const std::vector<CostPoint>& points, double from);

// `progress` is called with the name of each measurement before it starts.
std::vector<CostSeries> MeasureAttentionCost(const CostRequest& request,
                                             const std::function<void(const std::string&)>& progress);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BENCH_ATTENTION_COST_H_
