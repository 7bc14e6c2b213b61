//===- Gemm.cpp - blocked matrix product on packed panels -----------------===//
//
// Blocked matrix product with packed panels (as in GotoBLAS; Goto and van de
// Geijn 2008). A block of rhs (blockK x blockN) is packed into panels of 8
// columns, and a block of lhs (blockM x blockK) into panels of 4 rows. A 4 x 8
// tile of the result then stays in registers while the product runs along k.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/reference/Gemm.h"
#include "dialects/graph/reference/Arithmetic.h"
#include <algorithm>
#include <cstring>
#include <vector>

using namespace pcc::graph;

static constexpr int64_t tileRows = 4, tileColumns = 8;
static constexpr int64_t blockK = 256, blockN = 512;

using Lane = double __attribute__((vector_size(32)));

// PCC_CLONED compiles a function twice on x86-64: for CPUs with AVX2 and for
// CPUs without it. Both versions must compute equal bits, because folded
// constants must not depend on the CPU. The AVX2 version must therefore not use
// FMA, which rounds only once.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !__has_feature(address_sanitizer)
#define PCC_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define PCC_CLONED
#endif

/// Overwrites tile[i][j] by Σ_p lhs[p][i] · rhs[p][j], for 0 <= p < depth.
/// `lhs` is [depth, 4], `rhs` is [depth, 8], and `tile` is [4, 8]. All three
/// arrays are contiguous and row-major.
PCC_CLONED
static void multiplyTile(int64_t depth, const double *__restrict lhs,
                         const double *__restrict rhs,
                         double *__restrict tile) {
  Lane sums[tileRows][2] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Lane low, high;
    std::memcpy(&low, rhs + p * tileColumns, sizeof(low));
    std::memcpy(&high, rhs + p * tileColumns + 4, sizeof(high));
    for (int64_t row = 0; row < tileRows; ++row) {
      sums[row][0] += lhs[p * tileRows + row] * low;
      sums[row][1] += lhs[p * tileRows + row] * high;
    }
  }
  std::memcpy(tile, sums, sizeof(sums));
}

namespace {
/// Copy of a block of a matrix in panels, for a fast product lhs · rhs. A panel
/// of lhs holds `width` rows, column by column. A panel of rhs holds `width`
/// columns, row by row. Zeros fill up the last panel. For `width` 2, the lhs
/// rows (a b c), (d e f) and (g h i) become the panels (a d b e c f) and (g 0 h
/// 0 i 0).
struct Packed {
  int64_t width;
  std::vector<double> data;

  /// Copies a block of a matrix into `data`, as panels (groups of `width` rows
  /// or columns). The matrix product sums along the dim k. The element with
  /// index p along k (below `depth`) and index i along the other dim (below
  /// `count`) is copied from
  ///
  ///   from + p * depthStride + i * stride
  void pack(const double *from, int64_t depth, int64_t depthStride,
            int64_t count, int64_t stride) {
    int64_t numStrips = (count + width - 1) / width;
    data.assign(numStrips * depth * width, 0);
    for (int64_t strip = 0; strip < numStrips; ++strip)
      for (int64_t p = 0; p < depth; ++p) {
        double *to = data.data() + (strip * depth + p) * width;
        int64_t first = strip * width;
        for (int64_t i = 0; i < std::min(width, count - first); ++i)
          to[i] = from[p * depthStride + (first + i) * stride];
      }
  }
};
} // namespace

/// Adds the matrix product of `lhs` (m x depth) and `rhs` (depth x n) to the
/// matrix `out` (m x n). `lhs` must be packed into panels of 4 rows, and `rhs`
/// into panels of 8 columns (see Packed). `out` is row-major. From the start of
/// one row of `out` to the start of the next row are `outStride` elements.
static void multiplyBlocks(int64_t m, int64_t n, int64_t depth,
                           const Packed &lhs, const Packed &rhs, double *out,
                           int64_t outStride) {
  double tile[tileRows * tileColumns];
  for (int64_t i = 0; i < m; i += tileRows)
    for (int64_t j = 0; j < n; j += tileColumns) {
      multiplyTile(depth, lhs.data.data() + i * depth,
                   rhs.data.data() + j * depth, tile);
      for (int64_t row = 0; row < std::min(tileRows, m - i); ++row)
        for (int64_t column = 0; column < std::min(tileColumns, n - j);
             ++column)
          out[(i + row) * outStride + j + column] +=
              tile[row * tileColumns + column];
    }
}

/// Adds the matrix product lhs · rhs to `out`. The function multiplies blocks
/// of lhs (at most 128 x 256) by blocks of rhs (at most 256 x 512). Each block
/// of rhs is packed once, and then multiplied by all blocks of lhs that have
/// the same range of indices along k. `left` holds a packed block of lhs, and
/// `right` a packed block of rhs.
void pcc::graph::gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> lhs,
                      MatrixView<double> rhs, double *out, int64_t outStride) {
  constexpr int64_t blockM = 128;
  Packed left{tileRows, {}}, right{tileColumns, {}};
  for (int64_t j = 0; j < n; j += blockN)
    for (int64_t p = 0; p < k; p += blockK) {
      int64_t width = std::min(blockN, n - j), depth = std::min(blockK, k - p);
      right.pack(rhs.data + p * rhs.rowStride + j * rhs.columnStride, depth,
                 rhs.rowStride, width, rhs.columnStride);
      for (int64_t i = 0; i < m; i += blockM) {
        int64_t height = std::min(blockM, m - i);
        left.pack(lhs.data + i * lhs.rowStride + p * lhs.columnStride, depth,
                  lhs.columnStride, height, lhs.rowStride);
        multiplyBlocks(height, width, depth, left, right,
                       out + i * outStride + j, outStride);
      }
    }
}

void pcc::graph::gemm(int64_t m, int64_t n, int64_t k, MatrixView<int64_t> lhs,
                      MatrixView<int64_t> rhs, int64_t *out,
                      int64_t outStride) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      int64_t factor = lhs.data[i * lhs.rowStride + p * lhs.columnStride];
      for (int64_t j = 0; j < n; ++j)
        out[i * outStride + j] = wrappingAdd(
            out[i * outStride + j],
            wrappingMul(factor,
                        rhs.data[p * rhs.rowStride + j * rhs.columnStride]));
    }
}
