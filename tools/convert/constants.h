// Constants that the converter computes.
#ifndef FOVEA_TOOLS_CONVERT_CONSTANTS_H_
#define FOVEA_TOOLS_CONVERT_CONSTANTS_H_

#include <vector>

#include "tools/convert/weights.h"

namespace fovea::tools {

// Row p is the sine and cosine of (first + p) * max_timescale^(-i / (width / 2 - inclusive)), i < width / 2: sines
// first, then cosines, or interleaved: sine, cosine, sine ..
struct SinusoidalSpec {
  uint32_t rows = 0;
  uint32_t width = 0;
  double max_timescale = 10000;
  uint32_t first = 0;
  bool interleaved = false;
  bool inclusive = false;  // the last frequency is exactly 1 / max_timescale
};
Constant Sinusoidal(const SinusoidalSpec& spec);

// For rotary positions: row p is the cosines, then the sines, of p * theta^(-2i / dims) / factor, i < dims / 2.
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
// Rows, of a single row its columns, with these numbers.
Constant Pick(Constant of, std::vector<uint32_t> rows);
Constant Transpose(Constant of);
Constant Scale(Constant of, float factor);
// Each row, of a single row each column, times its own of these.
Constant ScaleRows(Constant of, Constant factors);
Constant Reshape(Constant of, uint32_t rows, uint32_t width);
// Addends of one row are added to every row.
Constant Sum(std::vector<Constant> addends);
// Seen as a tensor of this shape, its dimensions in another order: dimension i of the result is `order[i]` of `of`. The
// first one becomes the rows.
Constant Permute(Constant of, std::vector<uint32_t> shape, std::vector<uint32_t> order);
// What layers make of constants: a linear layer (`bias`: no rows where there is none), a layer norm of every row.
Constant Product(Constant x, Constant weight, Constant bias = {});
Constant LayerNorm(Constant x, Constant weight, Constant bias, double epsilon);
// Rows (of one row: columns) in as many equal parts as `order` has, part order[i] in place i: gates of recurrent
// layers.
Constant Parts(Constant of, const std::vector<uint32_t>& order);
// Numbers of four bits, two in a byte, with a shared exponent for 32 of them, as the MX formats have them: blocks
// [n, 16 for each exponent] and exponents [n, any], both of whole numbers up to 255.
Constant Mxfp4(Constant blocks, Constant exponents);
// One below the other.
Constant Concatenate(std::vector<Constant> parts);
Constant Literal(uint32_t rows, uint32_t width, std::vector<float> values);
// A table of row indices, -1 for none (arrange). Slices, transposes, reshapes and concatenations of it are such tables
// too.
Constant Indices(uint32_t rows, uint32_t width, const std::vector<int32_t>& values);

// A table [heads, 2 * reach + 1] over key - query distances, from bucketed weights [buckets, heads]: half of the
// buckets for keys after the query, half before it; in each half the first half are single distances, the others grow
// logarithmically up to max_distance, where they end. `causal`: all buckets are for keys before the query.
Constant RelativeBuckets(Constant weights, uint32_t max_distance, bool causal = false);

// The same table from weights [n, heads], n odd, by query - key distance from n / 2 down to -n / 2; longer distances
// hide the key.
Constant HidingBias(Constant weights);

// How a value between others is made, as PyTorch does it: of four neighbours along each axis (a = -0.75) or of two,
// with borders repeated; antialiased, of all that a place of the result covers (a = -0.5).
enum class Interpolation { kBicubic, kBilinear, kAntialiasedBicubic };

// Rows that stand for a grid [from_rows, from_columns] as rows for a grid [to_rows, to_columns] over the same area.
struct Grid {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t count() const { return rows * columns; }
};
Constant Resample(Constant of, Grid from, Grid to, Interpolation kind = Interpolation::kBicubic);

// For relative scores of attention: in column `reach + key - query` of the one row the bucket of that distance. Of
// `2 * span` buckets number `span` is distance 0 and keys before the query lie above it. Up to `exact` a bucket is one
// distance, from there they grow logarithmically up to `max_distance` (exact >= max_distance: they do not); the
// outermost buckets hold everything beyond.
struct DistanceBucketsSpec {
  uint32_t span = 0;
  uint32_t exact = 0;
  uint32_t max_distance = 0;
};
Constant DistanceBuckets(const DistanceBucketsSpec& spec);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CONSTANTS_H_
