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

// Compile functions twice on x86-64: for CPUs with AVX2 and for all others.
// Fused multiply-add (FMA) remains disabled, because it rounds differently.
// Folded constants must not depend on the CPU.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !__has_feature(address_sanitizer)
#define PCC_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define PCC_CLONED
#endif

/// Computes a 4 x 8 tile of a matrix product:
///
///   tile[i][j] = Σ_p lhs[p][i] · rhs[p][j],  p < depth
///
/// `lhs` and `rhs` are panels: contiguous copies of a few rows or columns.
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
/// A block of a matrix, copied into panels of `width` rows of lhs or columns of
/// rhs. Elements with equal index along k, the summed dim, are adjacent:
///
///   lhs rows (a b c) and (d e f), width 2:  panel a d b e c f
///
/// The last panel is padded with zeros.
struct Packed {
  int64_t width;
  std::vector<double> data;

  /// Copies a block of a matrix into panels. The block has `depth` elements
  /// along k and `count` along the other dim (m for lhs, n for rhs). Strides
  /// are in elements.
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

/// Adds the product of two packed blocks to `out`, which is m x n. `depth` is
/// the size of both blocks along k.
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

/// Multiplies block by block, with loops over n, then k, then m. Copies (packs)
/// each block of rhs once, then multiplies all rows of lhs by the copy.
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
