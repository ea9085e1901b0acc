// Products of matrices whose every sum is made in one order.
#include "tools/convert/product.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "tools/convert/vectors.h"

namespace fovea::tools {
namespace {

// A tile of c lies in registers: kTileRows times two vectors.
constexpr size_t kTileRows = 6, kTileVectors = 2;
// What is multiplied at a time lies in the caches: rows of a and b, columns of b.
constexpr size_t kDepth = 256, kColumns = 256;

// A tile of c, whose rows of a (kTileRows numbers each) and of b (kTileVectors vectors each) follow one another.
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

// Columns first to first + kWidth of the rows, one row after the other.
template <size_t kWidth>
void Pack(StridedRows rows, float sign, size_t depth, size_t first, float* packed) {
  for (size_t d = 0; d < depth; ++d, packed += kWidth) {
    const float* row = rows.data + static_cast<ptrdiff_t>(d) * rows.stride + first;
#pragma GCC unroll 16
    for (size_t i = 0; i < kWidth; ++i) packed[i] = sign * row[i];
  }
}

struct Tile {
  size_t columns;
  void (*add)(const float* a, const float* b, size_t depth, float* c, size_t stride);
  void (*pack)(StridedRows b, float sign, size_t depth, size_t first, float* packed);
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

// The same for `count` columns, zeros beside them up to `width`.
void PackEdge(StridedRows rows, float sign, size_t depth, size_t first, size_t count, size_t width, float* packed) {
  for (size_t d = 0; d < depth; ++d, packed += width) {
    const float* row = rows.data + static_cast<ptrdiff_t>(d) * rows.stride + first;
    for (size_t i = 0; i < count; ++i) packed[i] = sign * row[i];
    for (size_t i = count; i < width; ++i) packed[i] = 0;
  }
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
  const size_t most_columns = std::min((columns + tile.columns - 1) / tile.columns * tile.columns, kColumns);
  std::vector<float> left(std::min(depth, kDepth) * kTileRows), right(std::min(depth, kDepth) * most_columns);
  for (size_t column = 0; column < columns; column += kColumns) {
    const size_t some = std::min(kColumns, columns - column);
    for (size_t d = 0; d < depth; d += kDepth) {
      const size_t deep = std::min(kDepth, depth - d);
      const StridedRows of_a = {a.data + static_cast<ptrdiff_t>(d) * a.stride, a.stride};
      const StridedRows of_b = {b.data + static_cast<ptrdiff_t>(d) * b.stride, b.stride};
      for (size_t k = 0; k < some; k += tile.columns) {
        const size_t wide = std::min(tile.columns, some - k);
        if (wide == tile.columns) {
          tile.pack(of_b, 1, deep, column + k, &right[k * deep]);
        } else {
          PackEdge(of_b, 1, deep, column + k, wide, tile.columns, &right[k * deep]);
        }
      }
      for (size_t i = 0; i < rows; i += kTileRows) {
        const size_t high = std::min(kTileRows, rows - i);
        if (high == kTileRows) {
          Pack<kTileRows>(of_a, sign, deep, i, left.data());
        } else {
          PackEdge(of_a, sign, deep, i, high, kTileRows, left.data());
        }
        for (size_t k = 0; k < some; k += tile.columns) {
          const size_t wide = std::min(tile.columns, some - k);
          float* at = c + i * stride + column + k;
          if (high == kTileRows && wide == tile.columns) {
            tile.add(left.data(), &right[k * deep], deep, at, stride);
          } else {
            AddEdge(tile, left.data(), &right[k * deep], deep, high, wide, at, stride);
          }
        }
      }
    }
  }
}

}  // namespace fovea::tools
