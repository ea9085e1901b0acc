// Computes constants.
#include "tools/convert/constants.h"

#include <math.h>
#include <stdlib.h>

#include <algorithm>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"
#include "tools/base/filter_taps.h"

namespace fovea::tools {
namespace {

Range Resolve(Range range, uint32_t size, const char* what) {
  if (range.end == 0) range.end = size;
  if (range.begin >= range.end || range.end > size) {
    Fail("{} {} to {} are out of range: there are {}", what, range.begin, range.end, size);
  }
  return range;
}

// Bucket of a distance >= 0, in single precision as in the models' training.
uint32_t Bucket(uint32_t distance, uint32_t buckets, uint32_t max_distance) {
  const uint32_t exact = buckets / 2;
  if (distance < exact) return distance;
  const float octaves = logf(static_cast<float>(distance) / static_cast<float>(exact)) /
                        static_cast<float>(log(static_cast<double>(max_distance) / exact));
  return std::min(buckets - 1, exact + static_cast<uint32_t>(octaves * static_cast<float>(buckets - exact)));
}

// Two or four neighbours of each output sample, with borders repeated, even when downsampling.
std::vector<Taps> NeighbourTaps(bool cubic, uint32_t from, uint32_t to) {
  constexpr double kA = -0.75;
  std::vector<Taps> taps(to);
  for (uint32_t at = 0; at < to; ++at) {
    const double place = (at + 0.5) * from / to - 0.5, first = floor(place) - (cubic ? 1 : 0);
    const auto inside = [&](double i) { return static_cast<uint32_t>(std::clamp(i, 0.0, from - 1.0)); };
    taps[at].first = inside(first);
    for (int i = 0; i < (cubic ? 4 : 2); ++i) {
      const double x = fabs(place - first - i);
      const double cube = x <= 1 ? ((kA + 2) * x - (kA + 3)) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * kA;
      const uint32_t tap = inside(first + i) - taps[at].first;
      taps[at].weights.resize(std::max<size_t>(taps[at].weights.size(), tap + 1));
      taps[at].weights[tap] += cubic ? cube : 1 - x;
    }
  }
  return taps;
}

std::vector<Taps> TapsOf(Interpolation kind, uint32_t from, uint32_t to) {
  switch (kind) {
    case Interpolation::kBicubic:
      return NeighbourTaps(true, from, to);
    case Interpolation::kBilinear:
      return NeighbourTaps(false, from, to);
    case Interpolation::kAntialiasedBicubic:
      return FilterTaps(Filter::kBicubic, from, to);
  }
  return {};
}

}  // namespace

Constant Sinusoidal(const SinusoidalSpec& spec) {
  const uint32_t half = spec.width / 2;
  if (spec.rows == 0 || half == 0 || spec.width % 2 != 0 || (spec.inclusive && half == 1)) {
    Fail("a sinusoidal table cannot be [{}, {}]: it needs rows and an even width", spec.rows, spec.width);
  }
  return {spec.rows, spec.width, [spec, half] {
            std::vector<float> table(uint64_t{spec.rows} * spec.width);
            for (uint32_t p = 0; p < spec.rows; ++p) {
              for (uint32_t i = 0; i < half; ++i) {
                const double exponent = -static_cast<double>(i) / (spec.inclusive ? half - 1 : half);
                const double angle = (static_cast<double>(spec.first) + p) * pow(spec.max_timescale, exponent);
                float* row = table.data() + uint64_t{p} * spec.width;
                row[spec.interleaved ? 2 * i : i] = static_cast<float>(sin(angle));
                row[spec.interleaved ? 2 * i + 1 : half + i] = static_cast<float>(cos(angle));
              }
            }
            return table;
          }};
}

Constant Rotary(const RotarySpec& spec) {
  const uint32_t half = spec.dims / 2;
  if (spec.rows == 0 || half == 0 || spec.dims % 2 != 0 || !(spec.theta > 0) || !(spec.factor > 0)) {
    Fail("a rotary table cannot be [{}, {}]: it needs rows, an even width, and theta and factor above 0", spec.rows,
         spec.dims);
  }
  return {spec.rows, spec.dims, [spec, half] {
            std::vector<float> table(uint64_t{spec.rows} * spec.dims);
            for (uint32_t i = 0; i < half; ++i) {
              // Angles are rounded as in the models' training: at large positions this matters more than the rounding
              // of sines.
              const float exponent = static_cast<float>(2 * i) / static_cast<float>(spec.dims);
              float frequency = 1.0f / static_cast<float>(pow(spec.theta, exponent));
              frequency /= static_cast<float>(spec.factor);
              for (uint32_t p = 0; p < spec.rows; ++p) {
                const float angle = static_cast<float>(p) * frequency;
                float* row = table.data() + uint64_t{p} * spec.dims;
                row[i] = cosf(angle);
                row[half + i] = sinf(angle);
              }
            }
            return table;
          }};
}

Constant Slice(Constant of, Range rows, Range columns) {
  rows = Resolve(rows, of.rows, "rows");
  columns = Resolve(columns, of.width, "columns");
  return {rows.end - rows.begin, columns.end - columns.begin,
          [of, rows, columns] {
            const std::vector<float> all = of.load();
            std::vector<float> part;
            for (uint32_t r = rows.begin; r < rows.end; ++r) {
              const auto row = all.begin() + static_cast<ptrdiff_t>(uint64_t{r} * of.width);
              part.insert(part.end(), row + columns.begin, row + columns.end);
            }
            return part;
          },
          of.indices};
}

Constant Pick(Constant of, std::vector<uint32_t> rows) {
  const bool columns = of.rows == 1;
  const uint32_t size = columns ? of.width : of.rows, width = columns ? 1 : of.width;
  for (const uint32_t row : rows) {
    if (row >= size) Fail("row {} is out of range: there are {}", row, size);
  }
  const auto count = static_cast<uint32_t>(rows.size());
  return {columns ? 1 : count, columns ? count : width,
          [of, rows, width] {
            const std::vector<float> all = of.load();
            std::vector<float> picked;
            for (const uint32_t row : rows) {
              const auto from = all.begin() + static_cast<ptrdiff_t>(uint64_t{row} * width);
              picked.insert(picked.end(), from, from + width);
            }
            return picked;
          },
          of.indices};
}

Constant Transpose(Constant of) {
  return {of.width, of.rows,
          [of] {
            const std::vector<float> from = of.load();
            std::vector<float> to(from.size());
            for (uint64_t r = 0; r < of.rows; ++r) {
              for (uint64_t c = 0; c < of.width; ++c) to[c * of.rows + r] = from[r * of.width + c];
            }
            return to;
          },
          of.indices};
}

Constant Scale(Constant of, float factor) {
  return {of.rows, of.width, [of, factor] {
            std::vector<float> values = of.load();
            for (float& value : values) value *= factor;
            return values;
          }};
}

Constant ScaleRows(Constant of, Constant factors) {
  const bool columns = of.rows == 1 && of.width == factors.width;
  if (factors.rows != 1 || (!columns && of.rows != factors.width)) {
    Fail("[{}, {}] does not have one factor for each row of [{}, {}]", factors.rows, factors.width, of.rows, of.width);
  }
  return {of.rows, of.width, [of, factors, columns] {
            std::vector<float> values = of.load();
            const std::vector<float> by = factors.load();
            for (size_t i = 0; i < values.size(); ++i) values[i] *= by[columns ? i : i / of.width];
            return values;
          }};
}

Constant Reshape(Constant of, uint32_t rows, uint32_t width) {
  if (uint64_t{rows} * width != uint64_t{of.rows} * of.width) {
    Fail("[{}, {}] cannot become [{}, {}]", of.rows, of.width, rows, width);
  }
  return {rows, width, of.load, of.indices};
}

Constant Sum(std::vector<Constant> addends) {
  if (addends.empty()) Fail("a sum needs at least one addend");
  uint32_t rows = 1;
  for (const Constant& addend : addends) rows = std::max(rows, addend.rows);
  for (const Constant& addend : addends) {
    if (addend.width != addends[0].width || (addend.rows != rows && addend.rows != 1)) {
      Fail("[{}, {}] cannot be added to [{}, {}]", addend.rows, addend.width, rows, addends[0].width);
    }
  }
  return {rows, addends[0].width, [addends, rows] {
            std::vector<float> sum(uint64_t{rows} * addends[0].width);
            for (const Constant& addend : addends) {
              const std::vector<float> values = addend.load();
              for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i % values.size()];
            }
            return sum;
          }};
}

Constant Permute(Constant of, std::vector<uint32_t> shape, std::vector<uint32_t> order) {
  const size_t dims = shape.size();
  uint64_t size = 1;
  for (const uint32_t d : shape) size *= d;
  std::vector<uint32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = size > 0 && order.size() == dims && size == uint64_t{of.rows} * of.width;
  for (uint32_t i = 0; permutes && i < dims; ++i) permutes = sorted[i] == i;
  if (!permutes) Fail("[{}, {}] cannot be permuted as a tensor of {} dimensions", of.rows, of.width, dims);
  std::vector<uint64_t> step(dims, 1);  // stride in `of` of each dimension of the result
  for (size_t i = 0; i < dims; ++i) {
    for (size_t d = order[i] + 1; d < dims; ++d) step[i] *= shape[d];
  }
  const uint32_t rows = shape[order[0]];
  return {rows, static_cast<uint32_t>(size / rows),
          [of, shape, order, step] {
            const std::vector<float> from = of.load();
            std::vector<float> to(from.size());
            std::vector<uint32_t> at(shape.size(), 0);
            uint64_t source = 0;
            for (float& value : to) {
              value = from[source];
              for (size_t i = at.size(); i-- > 0;) {
                source += step[i];
                if (++at[i] < shape[order[i]]) break;
                source -= step[i] * at[i];
                at[i] = 0;
              }
            }
            return to;
          },
          of.indices};
}

Constant Product(Constant x, Constant weight, Constant bias) {
  if (x.width != weight.width || (bias.rows != 0 && (bias.rows != 1 || bias.width != weight.rows))) {
    Fail("a layer of [{}, {}] cannot be applied to [{}, {}]", weight.rows, weight.width, x.rows, x.width);
  }
  return {x.rows, weight.rows, [x, weight, bias] {
            const std::vector<float> left = x.load(), right = Transpose(weight).load();
            const std::vector<float> added = bias.rows == 0 ? std::vector<float>(weight.rows) : bias.load();
            std::vector<float> product;
            for (uint32_t r = 0; r < x.rows; ++r) {
              std::vector<double> sums(added.begin(), added.end());
              for (uint32_t i = 0; i < x.width; ++i) {
                const double factor = left[uint64_t{r} * x.width + i];
                const float* column = right.data() + uint64_t{i} * weight.rows;
                for (uint32_t c = 0; c < weight.rows; ++c) sums[c] += factor * column[c];
              }
              for (const double sum : sums) product.push_back(static_cast<float>(sum));
            }
            return product;
          }};
}

Constant LayerNorm(Constant x, Constant weight, Constant bias, double epsilon) {
  for (const Constant* of : {&weight, &bias}) {
    if (of->rows != 1 || of->width != x.width) Fail("a norm of {} cannot be applied to {}", of->width, x.width);
  }
  return {x.rows, x.width, [x, weight, bias, epsilon] {
            std::vector<float> values = x.load();
            const std::vector<float> factor = weight.load(), added = bias.load();
            for (uint32_t r = 0; r < x.rows; ++r) {
              float* row = values.data() + uint64_t{r} * x.width;
              double mean = 0, square = 0;
              for (uint32_t i = 0; i < x.width; ++i) mean += row[i] / static_cast<double>(x.width);
              for (uint32_t i = 0; i < x.width; ++i) square += (row[i] - mean) * (row[i] - mean) / x.width;
              const double inverse = 1 / sqrt(square + epsilon);
              for (uint32_t i = 0; i < x.width; ++i) {
                row[i] = static_cast<float>((row[i] - mean) * inverse * factor[i] + added[i]);
              }
            }
            return values;
          }};
}

Constant Mxfp4(Constant blocks, Constant exponents) {
  constexpr uint32_t kBytes = 16;
  if (blocks.rows != exponents.rows || blocks.width != uint64_t{exponents.width} * kBytes) {
    Fail("[{}, {}] is not 16 bytes for each of [{}, {}] exponents", blocks.rows, blocks.width, exponents.rows,
         exponents.width);
  }
  if (blocks.width > UINT32_MAX / 2) Fail("rows of {} bytes are too long", blocks.width);
  return {blocks.rows, blocks.width * 2, [blocks, exponents] {
            constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
            const std::vector<float> bytes = blocks.load(), powers = exponents.load();
            std::vector<float> values(bytes.size() * 2);
            for (size_t i = 0; i < bytes.size(); ++i) {
              const auto pair = static_cast<uint32_t>(bytes[i]);
              const int power = static_cast<int>(powers[i / kBytes]);
              if (power == 255) Fail("an exponent of 255 is not a number");
              for (uint32_t k = 0; k < 2; ++k) {
                const uint32_t four = pair >> (4 * k) & 15;
                const float value = ldexpf(kValues[four & 7], power - 127);
                values[2 * i + k] = four < 8 ? value : -value;
              }
            }
            return values;
          }};
}

Constant Concatenate(std::vector<Constant> parts) {
  if (parts.empty()) Fail("a concatenation needs at least one part");
  uint64_t rows = 0;
  for (const Constant& part : parts) {
    if (part.width != parts[0].width)
      Fail("rows of width {} and {} cannot be concatenated", parts[0].width, part.width);
    if (part.indices != parts[0].indices) Fail("indices and other numbers cannot be concatenated");
    rows += part.rows;
  }
  if (rows > UINT32_MAX) Fail("too many rows");
  return {static_cast<uint32_t>(rows), parts[0].width,
          [parts] {
            std::vector<float> all;
            for (const Constant& part : parts) {
              const std::vector<float> values = part.load();
              all.insert(all.end(), values.begin(), values.end());
            }
            return all;
          },
          parts[0].indices};
}

Constant Parts(Constant of, const std::vector<uint32_t>& order) {
  const auto count = static_cast<uint32_t>(order.size());
  const bool columns = of.rows == 1;
  const uint32_t size = columns ? of.width : of.rows;
  std::vector<uint32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 0; i < count; ++i) {
    if (sorted[i] != i) Fail("parts must be the numbers from 0 to {}, each once", count - 1);
  }
  if (count == 0 || size % count != 0) Fail("[{}, {}] does not have {} equal parts", of.rows, of.width, count);
  const Constant below = columns ? Reshape(of, count, size / count) : of;
  const uint32_t step = below.rows / count;
  std::vector<Constant> parts;
  for (const uint32_t part : order) parts.push_back(Slice(below, {part * step, (part + 1) * step}));
  const Constant all = Concatenate(std::move(parts));
  return columns ? Reshape(all, 1, size) : all;
}

Constant Literal(uint32_t rows, uint32_t width, std::vector<float> values) {
  if (values.empty() || uint64_t{rows} * width != values.size()) {
    Fail("{} values cannot fill [{}, {}]", values.size(), rows, width);
  }
  return {rows, width, [values = std::move(values)] { return values; }};
}

Constant Indices(uint32_t rows, uint32_t width, const std::vector<int32_t>& values) {
  for (const int32_t value : values) {
    if (value < -1 || value >= static_cast<int32_t>(kMaxRecords)) Fail("{} is not a row index", value);
  }
  Constant constant = Literal(rows, width, {values.begin(), values.end()});  // exact: they have at most 20 bits
  constant.indices = true;
  return constant;
}

Constant HidingBias(Constant weights) {
  if (weights.rows % 2 == 0) Fail("{} distances: an odd number is needed", weights.rows);
  const uint32_t columns = weights.rows + 2;
  Constant table = {weights.width, columns, [weights, columns] {
                      const std::vector<float> from = weights.load();
                      std::vector<float> to(uint64_t{weights.width} * columns, -INFINITY);
                      for (uint64_t i = 0; i < weights.rows; ++i) {
                        for (uint64_t head = 0; head < weights.width; ++head) {
                          to[head * columns + weights.rows - i] = from[i * weights.width + head];
                        }
                      }
                      return to;
                    }};
  table.hides = true;
  return table;
}

Constant Resample(Constant of, Grid from, Grid to, Interpolation kind) {
  if (from.rows == to.rows && from.columns == to.columns) return of;
  if (of.rows != from.count() || to.count() == 0) {
    Fail("{} rows of a grid of {} x {} cannot be resampled to {} x {}", of.rows, from.rows, from.columns, to.rows,
         to.columns);
  }
  return {to.count(), of.width, [of, from, to, kind] {
            const std::vector<float> values = of.load();
            const std::vector<Taps> down = TapsOf(kind, from.rows, to.rows);
            const std::vector<Taps> across = TapsOf(kind, from.columns, to.columns);
            std::vector<float> made;
            std::vector<double> sums(of.width);
            for (const Taps& y : down) {
              for (const Taps& x : across) {
                std::fill(sums.begin(), sums.end(), 0.0);
                for (size_t i = 0; i < y.weights.size(); ++i) {
                  for (size_t j = 0; j < x.weights.size(); ++j) {
                    const double weight = y.weights[i] * x.weights[j];
                    const float* row = values.data() + ((y.first + i) * from.columns + x.first + j) * of.width;
                    for (uint32_t c = 0; c < of.width; ++c) sums[c] += weight * row[c];
                  }
                }
                made.insert(made.end(), sums.begin(), sums.end());
              }
            }
            return made;
          }};
}

Constant RelativeBuckets(Constant weights, uint32_t max_distance, bool causal) {
  const uint32_t half = causal ? weights.rows : weights.rows / 2;
  if (half < 2 || (!causal && weights.rows % 2 != 0) || max_distance <= half / 2) {
    Fail("{} buckets up to distance {} cannot be made", weights.rows, max_distance);
  }
  const uint32_t columns = 2 * max_distance + 1;
  return {weights.width, columns, [weights, max_distance, half, columns, causal] {
            const std::vector<float> from = weights.load();
            std::vector<float> table(uint64_t{weights.width} * columns);
            for (uint32_t column = 0; column < columns; ++column) {
              const bool before = column <= max_distance;
              const uint32_t distance = before ? max_distance - column : column - max_distance;
              const uint32_t bucket = Bucket(distance, half, max_distance) + (before || causal ? 0 : half);
              for (uint32_t head = 0; head < weights.width; ++head) {
                table[uint64_t{head} * columns + column] = from[uint64_t{bucket} * weights.width + head];
              }
            }
            return table;
          }};
}

Constant DistanceBuckets(const DistanceBucketsSpec& spec) {
  const bool logarithmic = spec.exact < spec.max_distance;
  if (spec.span == 0 || (logarithmic && (spec.exact < 2 || spec.max_distance < spec.exact + 2))) {
    Fail("{} buckets, {} exact ones, up to distance {} cannot be made", spec.span, spec.exact, spec.max_distance);
  }
  const auto bucket = [&](uint32_t distance) {
    if (!logarithmic || distance <= spec.exact) return distance;
    // In single precision as in the models' training.
    const float mid = static_cast<float>(spec.exact);
    const float octaves = logf(static_cast<float>(distance) / mid) /
                          logf(static_cast<float>((spec.max_distance - 1) / static_cast<double>(spec.exact)));
    return spec.exact + static_cast<uint32_t>(ceilf(octaves * (mid - 1)));
  };
  // Distances beyond the reach are in an outermost bucket. Attention accepts tables of this many columns.
  constexpr uint32_t kMostReach = (1u << 13) - 1;
  uint32_t reach = 1;
  while (reach <= kMostReach && bucket(reach) < spec.span) ++reach;
  if (reach > kMostReach) Fail("buckets of distances of more than {} are not supported", kMostReach);
  std::vector<int32_t> columns(2 * reach + 1);
  for (uint32_t distance = 0; distance <= reach; ++distance) {
    const uint32_t of = std::min(bucket(distance), spec.span);
    columns[reach + distance] = static_cast<int32_t>(spec.span - of);
    columns[reach - distance] = static_cast<int32_t>(std::min(spec.span + of, 2 * spec.span - 1));
  }
  return Indices(1, 2 * reach + 1, columns);
}

}  // namespace fovea::tools
