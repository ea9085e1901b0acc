// int8 rows times packed int8 weights by AVX-512 VNNI, with the bits of XNNPACK's kernel.
//
// A block is 16 columns: an int32 per column (minus the sum of its weights), then for every eight of k eight weights of
// each column, padded with zeros, then a scale per column, then a bias per column.
//
// VPDPBUSD multiplies unsigned by signed bytes. XNNPACK's kernel makes x unsigned, by an instruction for two products
// of each row; here weights are made unsigned, by one for the products of all rows: sum x (w + 128) is the sum of
// products and 128 times the sum of x.
#include "runtime/kernels/gemm_avx512.h"

#if FOVEA_GEMM_AVX512

#include <type_traits>

#include "runtime/kernels/gemm_avx512-inl.h"

namespace fovea {
namespace {

constexpr size_t kColumns = 16, kTurn = 8;  // along k
constexpr size_t kVectorBytes = 64, kVectors = 2, kTurnBytes = kVectors * kVectorBytes;
constexpr size_t kTurnsAtOnce = 4;  // without a branch
constexpr size_t kStep = kTurnsAtOnce * kTurn, kStepBytes = kTurnsAtOnce * kTurnBytes;
constexpr size_t kMostRows = 14;  // whose sums fit the registers
constexpr int32_t kOffset = 128;

// Adds products of four unsigned and four signed bytes to each lane. gcc copies sums before and after the intrinsic.
FOVEA_AVX512 HWY_INLINE void AddProducts(__m512i unsigned_bytes, __m512i signed_bytes, __m512i& sum) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(unsigned_bytes), "v"(signed_bytes));
}

// The sum of x, which continues to a multiple of kTurn.
FOVEA_AVX512 int32_t SumOf(const int8_t* x, size_t k) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sum = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 64 <= k; i += 64) AddProducts(ones, _mm512_loadu_si512(x + i), sum);
  const size_t turns = (k - i + kTurn - 1) / kTurn;
  if (turns != 0) {
    AddProducts(ones, _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << turns) - 1), x + i), sum);
  }
  alignas(kVectorBytes) int32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  int32_t all = 0;
  for (const int32_t lane : lanes) all += lane;
  return all;
}

// Eight elements of one of four rows, k apart, repeated in every 64 bits. Compilers would keep an address for each row,
// more than there are registers.
template <size_t kRow, int kAt>
FOVEA_AVX512 HWY_INLINE __m512i EightOf(const int8_t* x, size_t k, size_t three_k) {
  __m512i eight;
  if constexpr (kRow == 0) {
    __asm__ volatile("vpbroadcastq %c2(%1), %0" : "=v"(eight) : "r"(x), "i"(kAt));
  } else if constexpr (kRow == 1) {
    __asm__ volatile("vpbroadcastq %c3(%1,%2), %0" : "=v"(eight) : "r"(x), "r"(k), "i"(kAt));
  } else if constexpr (kRow == 2) {
    __asm__ volatile("vpbroadcastq %c3(%1,%2,2), %0" : "=v"(eight) : "r"(x), "r"(k), "i"(kAt));
  } else {
    __asm__ volatile("vpbroadcastq %c3(%1,%2), %0" : "=v"(eight) : "r"(x), "r"(three_k), "i"(kAt));
  }
  return eight;
}

// The rows of a block of y: x[i] is row 4 i.
template <size_t kRows>
struct Rows {
  static constexpr size_t kFours = (kRows + 3) / 4;
  const int8_t* x[kFours];
  size_t k, three_k;
};

template <size_t kRow, int kAt, size_t kRows>
FOVEA_AVX512 HWY_INLINE void AddRows(const Rows<kRows>& rows, __m512i low, __m512i high,
                                     __m512i (&sums)[kRows][kVectors]) {
  if constexpr (kRow < kRows) {
    const __m512i eight = EightOf<kRow % 4, kAt>(rows.x[kRow / 4], rows.k, rows.three_k);
    AddProducts(low, eight, sums[kRow][0]);
    AddProducts(high, eight, sums[kRow][1]);
    AddRows<kRow + 1, kAt>(rows, low, high, sums);
  }
}

// Eight of k, kIndex turns further.
template <size_t kIndex, size_t kRows>
FOVEA_AVX512 HWY_INLINE void AddTurn(const Rows<kRows>& rows, const uint8_t* w, __m512i (&sums)[kRows][kVectors]) {
  const __m512i flip = _mm512_set1_epi8(-128);
  const __m512i low = _mm512_xor_si512(_mm512_load_si512(w + kIndex * kTurnBytes), flip);
  const __m512i high = _mm512_xor_si512(_mm512_load_si512(w + kIndex * kTurnBytes + kVectorBytes), flip);
  AddRows<0, static_cast<int>(kIndex * kTurn)>(rows, low, high, sums);
}

// The value that a row's sums begin with, and its zero point (gemm_avx512-inl.h).
struct Row {
  int32_t start, halves;
};

// kRows rows of a block of columns, of which the first `count` are written.
template <size_t kRows>
FOVEA_AVX512 HWY_NOINLINE void Multiply(const GemmTile& tile, size_t row, const uint8_t* block, avx512::Fetch fetch,
                                        const Row* row_values, size_t count, float* y) {
  Rows<kRows> rows;
  rows.k = tile.k;
  rows.three_k = 3 * tile.k;
  for (size_t i = 0; i < rows.kFours; ++i) {
    rows.x[i] = static_cast<const int8_t*>(tile.x) + (row + 4 * i) * tile.k;
  }
  __m512i sums[kRows][kVectors];
  HWY_UNROLL(14) for (size_t r = 0; r < kRows; ++r) {  // a column has two lanes
    sums[r][0] = sums[r][1] = _mm512_maskz_set1_epi32(0x5555, row_values[r].start);
  }
  const uint8_t* w = block + kVectorBytes;
  const auto skip = [&](size_t turns) {
    HWY_UNROLL(4) for (size_t i = 0; i < rows.kFours; ++i) rows.x[i] += turns * kTurn;
    w += turns * kTurnBytes;
  };
  for (size_t left = tile.k / kStep; left != 0; --left) {
    fetch.Step();
    AddTurn<0>(rows, w, sums);
    AddTurn<1>(rows, w, sums);
    AddTurn<2>(rows, w, sums);
    AddTurn<3>(rows, w, sums);
    skip(kTurnsAtOnce);
  }
  for (size_t left = (tile.k % kStep + kTurn - 1) / kTurn; left != 0; --left) {
    AddTurn<0>(rows, w, sums);
    skip(1);
  }
  const avx512::Columns columns = avx512::ColumnsAt(block, w, w + kVectorBytes, count);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  HWY_UNROLL(14) for (size_t r = 0; r < kRows; ++r, y += tile.y_stride) {
    const __m512i lanes = _mm512_add_epi32(_mm512_permutex2var_epi32(sums[r][0], even, sums[r][1]),
                                           _mm512_permutex2var_epi32(sums[r][0], odd, sums[r][1]));
    avx512::Write(columns, lanes, row_values[r].halves, tile.params[row + r].scale, y);
  }
}

// Calls call(height, row) with heights that cover the rows, the most first.
template <class Call>
HWY_INLINE void ForRows(size_t rows, const Call& call) {
  size_t row = 0;
  const auto cover = [&](auto height) {
    for (; row + height() <= rows; row += height()) call(height, row);
  };
  cover(std::integral_constant<size_t, kMostRows>());
  cover(std::integral_constant<size_t, 8>());
  cover(std::integral_constant<size_t, 4>());
  cover(std::integral_constant<size_t, 2>());
  cover(std::integral_constant<size_t, 1>());
}

}  // namespace

// All rows pass over sixteen columns, which stay in L1, before the next, which each pass fetches a part of.
void GemmVnniI8(const GemmTile& tile) {
  constexpr size_t kAtOnce = 16 * kMostRows;  // rows whose elements are summed beforehand
  const size_t turns = (tile.k + kTurn - 1) / kTurn;
  const size_t block_bytes = turns * kTurnBytes + 3 * kVectorBytes;
  Row row_values[kAtOnce];
  for (size_t first = 0; first < tile.rows; first += kAtOnce) {
    const size_t rows = HWY_MIN(kAtOnce, tile.rows - first);
    size_t passes = 0;
    ForRows(rows, [&](auto, size_t) { ++passes; });
    for (size_t r = 0; r < rows; ++r) {
      const int32_t sum = SumOf(static_cast<const int8_t*>(tile.x) + (first + r) * tile.k, tile.k);
      row_values[r] = {-kOffset * sum, avx512::Halves(tile.params[first + r].zero_point)};
    }
    const auto* block = static_cast<const uint8_t*>(tile.weights);
    for (size_t c = 0; c < tile.columns; c += kColumns, block += block_bytes) {
      size_t pass = 0;
      ForRows(rows, [&](auto height, size_t row) {
        const avx512::Fetch fetch(block + block_bytes, kStepBytes, tile.k / kStep, pass++, passes);
        Multiply<height()>(tile, first + row, block, fetch, row_values + row, tile.columns - c,
                           tile.y + (first + row) * tile.y_stride + c);
      });
    }
  }
}

}  // namespace fovea

#endif  // FOVEA_GEMM_AVX512
