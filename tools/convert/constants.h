// Computes constants.
#ifndef FOVEA_TOOLS_CONVERT_CONSTANTS_H_
#define FOVEA_TOOLS_CONVERT_CONSTANTS_H_

#include <vector>

#include "tools/convert/weights.h"

namespace fovea::tools {

// Row p is the sine and cosine of (first + p) * max_timescale^(-i / (width / 2 - inclusive)), i < width / 2: sines
// first, then cosines, or interleaved: sine, cosine, sine, ...
struct SinusoidalSpec {
  uint32_t rows = 0;
  uint32_t width = 0;
  double max_timescale = 10000;
  uint32_t first = 0;
  bool interleaved = false;
  bool inclusive = false;  // the last frequency is exactly 1 / max_timescale
};
Constant Sinusoidal(const SinusoidalSpec& spec);

// For RoPE: row p is the cosines, then the sines, of p * theta^(-2i / dims) / factor, i < dims / 2.
struct RotarySpec {
  uint32_t rows = 0;
  uint32_t dims = 0;
  double theta = 10000;
  double factor = 1;
};
Constant Rotary(const RotarySpec& spec);

// Rows [begin, end) and columns [begin, end); an end of 0 means all.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
};
Constant Slice(Constant of, Range rows, Range columns = {});
// Rows with these indices; columns if there is only one row.
Constant Pick(Constant of, std::vector<uint32_t> rows);
Constant Transpose(Constant of);
Constant Scale(Constant of, float factor);
// Multiplies each row (or each column of a single row) by the corresponding factor.
Constant ScaleRows(Constant of, Constant factors);
Constant Reshape(Constant of, uint32_t rows, uint32_t width);
// Sum; an addend of one row is added to every row.
Constant Sum(std::vector<Constant> addends);
// Reshapes to a tensor of this shape and permutes its dimensions: dimension i of the result is `order[i]` of `of`. The
// first one becomes the rows.
Constant Permute(Constant of, std::vector<uint32_t> shape, std::vector<uint32_t> order);
// Layers applied to constants: a linear layer (`bias` without rows: none), a layer norm of every row.
Constant Product(Constant x, Constant weight, Constant bias = {});
Constant LayerNorm(Constant x, Constant weight, Constant bias, double epsilon);
// Splits rows (or columns of a single row) into as many equal parts as `order` has, and puts part order[i] at place i:
// gates of recurrent layers.
Constant Parts(Constant of, const std::vector<uint32_t>& order);
// Decodes MXFP4: 4-bit floats, two per byte, with a shared exponent for 32 of them: blocks [n, 16 per exponent] and
// exponents [n, any], both as whole numbers up to 255.
Constant Mxfp4(Constant blocks, Constant exponents);
// Concatenates by rows.
Constant Concatenate(std::vector<Constant> parts);
Constant Literal(uint32_t rows, uint32_t width, std::vector<float> values);
// A table of row indices, -1 for none (`arrange`). Slices, transposes, reshapes and concatenations of it are also index
// tables.
Constant Indices(uint32_t rows, uint32_t width, const std::vector<int32_t>& values);

// A table [heads, 2 * reach + 1] over key - query distances, from bucketed weights [buckets, heads] (T5): half of the
// buckets for keys after the query, half before it; in each half the first half are single distances, the rest grow
// logarithmically up to max_distance. `causal`: all buckets are for keys before the query.
Constant RelativeBuckets(Constant weights, uint32_t max_distance, bool causal = false);

// Same table from weights [n, heads], n odd, by query - key distance from n / 2 down to -n / 2; keys at longer
// distances are masked.
Constant HidingBias(Constant weights);

// Interpolation as in PyTorch: from four neighbours along each axis (a = -0.75) or two, with borders repeated;
// antialiased: from all that an output sample covers (a = -0.5).
enum class Interpolation { kBicubic, kBilinear, kAntialiasedBicubic };

// Resamples rows of a grid [from_rows, from_columns] to a grid [to_rows, to_columns] over the same area.
struct Grid {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t count() const { return rows * columns; }
};
Constant Resample(Constant of, Grid from, Grid to, Interpolation kind = Interpolation::kBicubic);

// For relative scores of attention: one row with the bucket of distance key - query in column `reach + key - query`. Of
// `2 * span` buckets, `span` is distance 0, and keys before the query have higher buckets. Up to `exact`, a bucket is
// one distance; beyond that buckets grow logarithmically up to `max_distance` (exact >= max_distance: they do not). The
// outermost buckets include all larger distances.
struct DistanceBucketsSpec {
  uint32_t span = 0;
  uint32_t exact = 0;
  uint32_t max_distance = 0;
};
Constant DistanceBuckets(const DistanceBucketsSpec& spec);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CONSTANTS_H_
