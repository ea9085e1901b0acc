// Matrix products (GEMM) with a fixed order of summation.
#include "tools/convert/product.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "tools/convert/vectors.h"

namespace fovea::tools {
namespace {

// A tile of c is kept in registers: kTileRows times two vectors.
constexpr size_t kTileRows = 6, kTileVectors = 2;
// A block that fits in the caches: rows of a and b, rows and columns of c.
constexpr size_t kDepth = 256, kRows = 24 * kTileRows, kColumns = 256;

// Multiplies packed rows of a (kTileRows numbers each) and of b (kTileVectors vectors each) into a tile of c.
template <typename Vector>
FOVEA_INLINE void AddTile(const float* a, const float* b, size_t depth, float* c, size_t stride) {
  constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
  Vector sums[kTileRows][kTileVectors];
#pragma GCC unroll 6
  for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kTileVectors; ++v) sums[i][v] = LoadVector<Vector>(c + i * stride + v * kLanes);
  }
  for (size_t d = 0; d < depth; ++d, a += kTileRows, b += kTileVectors * kLanes) {
    Vector parts[kTileVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kTileVectors; ++v) parts[v] = LoadVector<Vector>(b + v * kLanes);
#pragma GCC unroll 6
    for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kTileVectors; ++v) sums[i][v] += a[i] * parts[v];
    }
  }
#pragma GCC unroll 6
  for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kTileVectors; ++v) StoreVector(sums[i][v], c + i * stride + v * kLanes);
  }
}

// Packs `count` columns of the rows into panels of kWidth; a panel has `depth` rows, and the last one is padded with
// zeros. A few rows at a time, so that the data read is on few pages.
template <size_t kWidth>
void Pack(StridedRows rows, float sign, size_t depth, size_t count, float* packed) {
  constexpr size_t kTogether = 4;
  const size_t whole = count / kWidth * kWidth;
  for (size_t first = 0; first < depth; first += kTogether) {
    const size_t end = std::min(depth, first + kTogether);
    const auto row = [&](size_t d) { return rows.data + static_cast<ptrdiff_t>(d) * rows.stride; };
    for (size_t k = 0; k < whole; k += kWidth) {
      for (size_t d = first; d < end; ++d) {
        float* to = packed + k * depth + d * kWidth;
#pragma GCC unroll 16
        for (size_t i = 0; i < kWidth; ++i) to[i] = sign * row(d)[k + i];
      }
    }
    for (size_t d = first; d < end && whole < count; ++d) {
      float* to = packed + whole * depth + d * kWidth;
      for (size_t i = 0; i < kWidth; ++i) to[i] = whole + i < count ? sign * row(d)[whole + i] : 0;
    }
  }
}

struct Tile {
  size_t columns;
  void (*add)(const float* a, const float* b, size_t depth, float* c, size_t stride);
  void (*pack)(StridedRows b, float sign, size_t depth, size_t count, float* packed);
};

template <typename Vector>
constexpr size_t kTileColumns = kTileVectors * sizeof(Vector) / sizeof(float);

#ifdef FOVEA_HAS_LONG_VECTORS
FOVEA_LONG_VECTORS void AddLong(const float* a, const float* b, size_t depth, float* c, size_t stride) {
  AddTile<LongVector>(a, b, depth, c, stride);
}
#endif

void AddShort(const float* a, const float* b, size_t depth, float* c, size_t stride) {
  AddTile<ShortVector>(a, b, depth, c, stride);
}

Tile BestTile() {
#ifdef FOVEA_HAS_LONG_VECTORS
  if (HasLongVectors()) return {kTileColumns<LongVector>, AddLong, Pack<kTileColumns<LongVector>>};
#endif
  return {kTileColumns<ShortVector>, AddShort, Pack<kTileColumns<ShortVector>>};
}

void AddEdge(const Tile& tile, const float* a, const float* b, size_t depth, size_t rows, size_t columns, float* c,
             size_t stride) {
  float whole[kTileRows * kTileVectors * kMostLanes] = {};
  for (size_t i = 0; i < rows; ++i) memcpy(whole + i * tile.columns, c + i * stride, columns * sizeof(float));
  tile.add(a, b, depth, whole, tile.columns);
  for (size_t i = 0; i < rows; ++i) memcpy(c + i * stride, whole + i * tile.columns, columns * sizeof(float));
}

}  // namespace

void AddProduct(StridedRows a, float sign, StridedRows b, size_t depth, size_t rows, size_t columns, float* c,
                size_t stride) {
  const Tile tile = BestTile();
  // Per thread, reused by later products.
  thread_local std::vector<float> left(kRows * kDepth), right(kColumns * kDepth);
  for (size_t column = 0; column < columns; column += kColumns) {
    const size_t wide = std::min(kColumns, columns - column);
    for (size_t d = 0; d < depth; d += kDepth) {
      const size_t deep = std::min(kDepth, depth - d);
      tile.pack({b.data + static_cast<ptrdiff_t>(d) * b.stride + column, b.stride}, 1, deep, wide, right.data());
      for (size_t row = 0; row < rows; row += kRows) {
        const size_t high = std::min(kRows, rows - row);
        Pack<kTileRows>({a.data + static_cast<ptrdiff_t>(d) * a.stride + row, a.stride}, sign, deep, high, left.data());
        for (size_t i = 0; i < high; i += kTileRows) {
          for (size_t k = 0; k < wide; k += tile.columns) {
            const size_t some_rows = std::min(kTileRows, high - i), some_columns = std::min(tile.columns, wide - k);
            float* at = c + (row + i) * stride + column + k;
            if (some_rows == kTileRows && some_columns == tile.columns) {
              tile.add(&left[i * deep], &right[k * deep], deep, at, stride);
            } else {
              AddEdge(tile, &left[i * deep], &right[k * deep], deep, some_rows, some_columns, at, stride);
            }
          }
        }
      }
    }
  }
}

}  // namespace fovea::tools
