// int8 rows times packed int8 weights by AMX, with the bits of XNNPACK's kernel. That one takes 16 rows, and its loop
// over columns loads all weights of a call from L2; here 64 columns stay in L1 while all rows pass, and the next 64 are
// fetched meanwhile.
//
// A block is 64 columns: an int32 per column (minus the sum of its weights), then for every four of k four weights of
// each column, padded with zeros, then a scale per column, then a bias per column. A tile register has up to 16 rows of
// 64 bytes: sums of 16 rows of x and 16 columns, 64 elements of 16 rows of x, or weights of 64 elements of k.
#include "runtime/kernels/gemm_avx512.h"

#if FOVEA_GEMM_AVX512

#include "runtime/kernels/gemm_avx512-inl.h"

// Tile instructions are inline assembly: gcc 12 takes the intrinsics for ones that read no memory.
#define FOVEA_AMX __attribute__((target("avx512f,avx512vnni,amx-tile,amx-int8")))
#define FOVEA_LOAD_TILE(tile, from, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"(stride) : "memory")
#define FOVEA_STORE_TILE(tile, to, stride) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"(stride) : "memory")
#define FOVEA_ADD_PRODUCTS(sums, x, weights) __asm__ volatile("tdpbssd %%tmm" #weights ", %%tmm" #x ", %%tmm" #sums ::)
#define FOVEA_CLEAR_TILE(tile) __asm__ volatile("tilezero %%tmm" #tile ::)
// Four vectors of columns, whose weights are kVectorBytes apart. Tiles 0 to 3 are sums.
#define FOVEA_ADD_COLUMNS(x, weights, from)                       \
  FOVEA_LOAD_TILE(weights, from, kRowBytes);                      \
  FOVEA_ADD_PRODUCTS(0, x, weights);                              \
  FOVEA_LOAD_TILE(weights, (from) + kVectorBytes, kRowBytes);     \
  FOVEA_ADD_PRODUCTS(1, x, weights);                              \
  FOVEA_LOAD_TILE(weights, (from) + 2 * kVectorBytes, kRowBytes); \
  FOVEA_ADD_PRODUCTS(2, x, weights);                              \
  FOVEA_LOAD_TILE(weights, (from) + 3 * kVectorBytes, kRowBytes); \
  FOVEA_ADD_PRODUCTS(3, x, weights)

namespace fovea {
namespace {

constexpr size_t kColumns = 64, kRows = 16, kLanes = 16;
constexpr size_t kDepth = 64;                          // elements of k in a tile of x
constexpr size_t kVectorBytes = 64, kVectors = 4;      // 16 columns, four of k each
constexpr size_t kRowBytes = kVectors * kVectorBytes;  // four elements of k
constexpr size_t kStepBytes = kRowBytes * kDepth / 4;  // kDepth of k

// The operand of LDTILECFG.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Tiles 0 to 3: sums; 4 and 5: rows of x and weights; 6 and 7: the last of k, if it is no multiple of kDepth.
TileConfig ConfigOf(size_t rows, size_t k) {
  TileConfig config;
  for (size_t i = 0; i < 6; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = static_cast<uint8_t>(i == 5 ? kRows : rows);
  }
  const size_t rest = (k % kDepth + 3) / 4;
  if (rest != 0) {
    config.row_bytes[6] = static_cast<uint16_t>(4 * rest);
    config.rows[6] = static_cast<uint8_t>(rows);
    config.row_bytes[7] = 64;
    config.rows[7] = static_cast<uint8_t>(rest);
  }
  return config;
}

// Sums of rows of x [rows, k] with the weights of 64 columns.
FOVEA_AMX HWY_INLINE void SumProducts(const int8_t* x, size_t k, const uint8_t* w, avx512::Fetch fetch,
                                      int32_t (*sums)[kRows * kLanes]) {
  FOVEA_CLEAR_TILE(0);
  FOVEA_CLEAR_TILE(1);
  FOVEA_CLEAR_TILE(2);
  FOVEA_CLEAR_TILE(3);
  for (const int8_t* const last = x + k / kDepth * kDepth; x != last; x += kDepth, w += kStepBytes) {
    fetch.Step();
    FOVEA_LOAD_TILE(4, x, k);
    FOVEA_ADD_COLUMNS(4, 5, w);
  }
  if (k % kDepth != 0) {
    FOVEA_LOAD_TILE(6, x, k);
    FOVEA_ADD_COLUMNS(6, 7, w);
  }
  FOVEA_STORE_TILE(0, sums[0], kVectorBytes);
  FOVEA_STORE_TILE(1, sums[1], kVectorBytes);
  FOVEA_STORE_TILE(2, sums[2], kVectorBytes);
  FOVEA_STORE_TILE(3, sums[3], kVectorBytes);
}

// Writes the first `count` columns. `last` has the scales.
FOVEA_AMX HWY_INLINE void Finish(const QuantParams* params, size_t rows, const uint8_t* block, const uint8_t* last,
                                 const int32_t (*sums)[kRows * kLanes], size_t count, float* y, size_t stride) {
  avx512::Columns columns[kVectors];
  HWY_UNROLL(4) for (size_t j = 0; j < kVectors; ++j) {
    const uint8_t* scales = last + j * kVectorBytes;
    columns[j] = avx512::ColumnsAt(block + j * kVectorBytes, scales, scales + kRowBytes,
                                   count > j * kLanes ? count - j * kLanes : 0);
  }
  for (size_t r = 0; r < rows; ++r, y += stride) {
    const int32_t halves = avx512::Halves(params[r].zero_point);
    HWY_UNROLL(4) for (size_t j = 0; j < kVectors; ++j) {
      const __m512i exact = _mm512_load_si512(sums[j] + r * kLanes);
      avx512::Write(columns[j], exact, halves, params[r].scale, y + j * kLanes);
    }
  }
}

}  // namespace

FOVEA_AMX void GemmAmxI8(const GemmTile& tile) {
  const size_t k = tile.k, rows = tile.rows < kRows ? tile.rows : kRows;
  const size_t weight_bytes = (k + 3) / 4 * kRowBytes, block_bytes = weight_bytes + 3 * kRowBytes;
  const size_t groups = (tile.rows + kRows - 1) / kRows;
  const TileConfig config = ConfigOf(rows, k);
  alignas(64) int32_t sums[kVectors][kRows * kLanes];
  __asm__ volatile("ldtilecfg %0" ::"m"(config));
  const auto* block = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += kColumns, block += block_bytes) {
    const size_t left = tile.columns - c, count = left < kColumns ? left : kColumns;
    for (size_t group = 0; group < groups; ++group) {
      // The last rows are multiplied with some before them once more: a tile has as many rows as it is configured for.
      const size_t row = group + 1 < groups ? group * kRows : tile.rows - rows;
      const uint8_t* w = block + kRowBytes;
      const avx512::Fetch fetch(block + block_bytes, kStepBytes, k / kDepth, group, groups);
      SumProducts(static_cast<const int8_t*>(tile.x) + row * k, k, w, fetch, sums);
      Finish(tile.params + row, rows, block, w + weight_bytes, sums, count, tile.y + row * tile.y_stride + c,
             tile.y_stride);
    }
  }
  __asm__ volatile("tilerelease" ::);
}

}  // namespace fovea

#endif  // FOVEA_GEMM_AVX512
