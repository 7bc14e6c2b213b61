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

// A function marked PCC_CLONED is compiled twice on x86-64: once for CPUs with
// AVX2, and once for all other CPUs. At run time, the program calls the version
// for its CPU. Both versions compute bitwise equal results, because the version
// for AVX2 does not use fused multiply-add (FMA) instructions. An FMA rounds
// once, but a multiplication and an addition round twice. The results must be
// equal, because folded constants must not depend on the CPU. On other
// architectures, and with AddressSanitizer, PCC_CLONED has no effect.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    !__has_feature(address_sanitizer)
#define PCC_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define PCC_CLONED
#endif

/// Multiplies 4 rows of a matrix by 8 columns of another matrix. Each row and
/// each column has `depth` elements. The arrays are contiguous and row-major:
///
///   array  shape       contents
///   lhs    [depth, 4]  lhs[p][i] is element p of row i
///   rhs    [depth, 8]  rhs[p][j] is element p of column j
///   tile   [4, 8]      tile[i][j] is the product of row i and column j
///
/// The function overwrites `tile` by
///
///   tile[i][j] = Σ_p lhs[p][i] · rhs[p][j],  0 <= p < depth
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
/// Copy of a block of a matrix, reordered for a fast matrix product lhs · rhs.
/// The copy is a sequence of panels. A panel of lhs holds `width` adjacent rows
/// of the block: first column 0 of these rows, then column 1, and so on. A
/// panel of rhs holds `width` adjacent columns of the block: first row 0 of
/// these columns, then row 1, and so on. Zeros fill up the last panel if it has
/// fewer than `width` rows or columns.
///
/// Example: a block of lhs has the rows (a b c), (d e f) and (g h i), and
/// `width` is 2.
///
///   panel 0:  a d b e c f
///   panel 1:  g 0 h 0 i 0
struct Packed {
  int64_t width;
  std::vector<double> data;

  /// Copies a block of a matrix into `data`, panel by panel. The matrix product
  /// sums along the dim k. The block has `depth` elements along k and `count`
  /// elements along the other dim. Both strides count elements. The element
  /// with index p along k and index i along the other dim is copied from
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
