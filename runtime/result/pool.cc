#include "runtime/result/pool.h"

#include <math.h>
#include <string.h>

#include "fovea/result.h"

namespace fovea {
namespace {

constexpr uint32_t kColumns = 64;  // pooled at once, so that rows are read in their order

void Softmax(float* scores, uint32_t count) {
  double most = -HUGE_VAL, sum = 0;
  for (uint32_t i = 0; i < count; ++i) most = double{scores[i]} > most ? double{scores[i]} : most;
  for (uint32_t i = 0; i < count; ++i) sum += exp(double{scores[i]} - most);
  for (uint32_t i = 0; i < count; ++i) scores[i] = static_cast<float>(exp(double{scores[i]} - most) / sum);
}

// An activation of each score by itself; all of them grow with the score.
double Activated(uint32_t activation, double score) {
  if (activation == FOVEA_ACTIVATION_SIGMOID) return 1 / (1 + exp(-score));
  if (activation < FOVEA_ACTIVATION_LOG1P) return score;
  const double weight = score > 0 ? log1p(score) : 0;
  return activation == FOVEA_ACTIVATION_LOG1P_TWICE ? log1p(weight) : weight;
}

}  // namespace

bool CanPool(uint32_t pooling, uint32_t activation) {
  if (pooling > FOVEA_POOLING_SUM || activation > FOVEA_ACTIVATION_LOG1P_TWICE) return false;
  return pooling < FOVEA_POOLING_MAX || activation != FOVEA_ACTIVATION_SOFTMAX;
}

void PoolRows(uint32_t pooling, uint32_t activation, const PooledRows& rows, uint32_t width, float* out) {
  const bool sums = pooling == FOVEA_POOLING_SUM;
  if (rows.count == 0) {
    memset(out, 0, width * sizeof(float));
    return;
  }
  for (uint32_t first = 0; first < width; first += kColumns) {
    const uint32_t columns = width - first < kColumns ? width - first : kColumns;
    double found[kColumns];
    for (uint32_t i = 0; i < columns; ++i) found[i] = pooling == FOVEA_POOLING_MAX ? -HUGE_VAL : 0;
    for (uint64_t row = 0; row < rows.count; ++row) {
      const float* numbers = reinterpret_cast<const float*>(rows.first + row * rows.stride) + first;
      for (uint32_t i = 0; i < columns; ++i) {
        const double number = double{numbers[i]};
        if (pooling == FOVEA_POOLING_MAX) {
          found[i] = number > found[i] ? number : found[i];
        } else {
          found[i] += sums ? Activated(activation, number) : number;
        }
      }
    }
    for (uint32_t i = 0; i < columns; ++i) {
      double number = found[i];
      if (pooling == FOVEA_POOLING_MEAN) number /= static_cast<double>(rows.count);
      // The largest activated number is that of the largest number.
      if (pooling == FOVEA_POOLING_MAX) number = Activated(activation, number);
      out[first + i] = static_cast<float>(number);
    }
  }
  if (pooling == FOVEA_POOLING_MEAN) Activate(activation, out, width);
}

void Activate(uint32_t activation, float* scores, uint32_t count) {
  if (activation == FOVEA_ACTIVATION_SOFTMAX) return Softmax(scores, count);
  if (activation == FOVEA_ACTIVATION_NONE) return;
  for (uint32_t i = 0; i < count; ++i) scores[i] = static_cast<float>(Activated(activation, double{scores[i]}));
}

}  // namespace fovea
