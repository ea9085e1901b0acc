// Convolutions in two dimensions, over grids whose cells are rows.
#include "tools/convert/arch/grid_convolution.h"

#include <algorithm>

#include "runtime/blob/format.h"
#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

uint32_t Places(uint32_t cells, const Filter& filter) {
  const uint64_t padded = cells + uint64_t{2} * filter.padding;
  return padded < filter.size ? 0 : static_cast<uint32_t>((padded - filter.size) / filter.stride + 1);
}

// The two cells along a side around a coordinate, and its distance from the first one.
struct Between {
  uint32_t first, second;
  double share;
};
Between PlaceOf(uint32_t at, uint32_t from, uint32_t to) {
  const double place = std::max(0.0, (at + 0.5) * from / to - 0.5);
  const uint32_t first = std::min(static_cast<uint32_t>(place), from - 1);
  return {first, std::min(first + 1, from - 1), place - first};
}

}  // namespace

Grid Convolved(Grid grid, const Filter& filter) {
  if (filter.size == 0 || filter.stride == 0 || filter.padding >= filter.size) {
    Fail("filters of {} x {} cells with stride {} are not supported", filter.size, filter.size, filter.stride);
  }
  return {Places(grid.rows, filter), Places(grid.columns, filter)};
}

Constant FilterTable(Grid grid, const Filter& filter) {
  const Grid out = Convolved(grid, filter);
  const uint64_t cells = uint64_t{filter.size} * filter.size;
  if (out.count() == 0 || out.count() > kMaxRecords || cells > kMaxRecords) {
    Fail("a grid of {} x {} cannot be convolved with filters of {} x {}", grid.rows, grid.columns, filter.size,
         filter.size);
  }
  std::vector<int32_t> table;
  for (uint32_t i = 0; i < out.count(); ++i) {
    const int64_t top = int64_t{i / out.columns} * filter.stride - filter.padding;
    const int64_t left = int64_t{i % out.columns} * filter.stride - filter.padding;
    for (int64_t y = top; y < top + filter.size; ++y) {
      for (int64_t x = left; x < left + filter.size; ++x) {
        const bool inside = y >= 0 && y < grid.rows && x >= 0 && x < grid.columns;
        table.push_back(inside ? static_cast<int32_t>(y * grid.columns + x) : -1);
      }
    }
  }
  return Indices(out.count(), static_cast<uint32_t>(cells), table);
}

Constant FiltersByCell(const Constant& stored, const Filter& filter) {
  const uint32_t cells = filter.size * filter.size;
  if (stored.width % cells != 0) {
    Fail("filters of {} numbers cannot be split into {} x {} cells", stored.width, filter.size, filter.size);
  }
  return Permute(stored, {stored.rows, stored.width / cells, cells}, {0, 2, 1});
}

Blend Bilinear(Grid from, Grid to) {
  if (from.count() == 0 || to.count() == 0 || to.count() > kMaxRecords) {
    Fail("a grid of {} x {} cannot become {} x {}", from.rows, from.columns, to.rows, to.columns);
  }
  std::vector<int32_t> rows;
  std::vector<float> weights;
  for (uint32_t i = 0; i < to.count(); ++i) {
    const Between y = PlaceOf(i / to.columns, from.rows, to.rows);
    const Between x = PlaceOf(i % to.columns, from.columns, to.columns);
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t row = k < 2 ? y.first : y.second, column = k % 2 == 0 ? x.first : x.second;
      rows.push_back(static_cast<int32_t>(row * from.columns + column));
      weights.push_back(static_cast<float>((k < 2 ? 1 - y.share : y.share) * (k % 2 == 0 ? 1 - x.share : x.share)));
    }
  }
  return {Indices(to.count(), 4, rows), Literal(to.count(), 4, weights)};
}

Constant Blended(const Constant& source, const Blend& blend) {
  return {blend.rows.rows, source.width, [source, blend] {
            const std::vector<float> from = source.load(), rows = blend.rows.load(), weights = blend.weights.load();
            std::vector<float> to(uint64_t{blend.rows.rows} * source.width);
            for (size_t i = 0; i < rows.size(); ++i) {
              if (rows[i] < 0) continue;
              const uint64_t row = static_cast<uint32_t>(rows[i]);
              float* sum = to.data() + i / blend.rows.width * source.width;
              for (uint32_t c = 0; c < source.width; ++c) sum[c] += weights[i] * from[row * source.width + c];
            }
            return to;
          }};
}

}  // namespace fovea::tools
