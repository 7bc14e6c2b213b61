//===- Gemm.h - matrix product of strided matrices ------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H
#define PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H

#include <cstdint>

namespace pcc::graph {

/// A matrix in memory with arbitrary strides, in elements. Element (i, j) is
/// data[i * rowStride + j * columnStride]. The view does not own the memory.
template <typename T> struct MatrixView {
  const T *data;
  int64_t rowStride;
  int64_t columnStride;
};

/// Adds the product of `lhs` (m x k) and `rhs` (k x n) to `out`. Rows of `out`
/// are contiguous and start `outStride` elements apart. `out` must not overlap
/// `lhs` or `rhs`. The results are bitwise reproducible on every machine.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> lhs,
          MatrixView<double> rhs, double *out, int64_t outStride);

/// Adds the product of two integer matrices, `lhs` (m x k) and `rhs` (k x n),
/// to `out`. Overflow wraps around. Rows of `out` are contiguous and start
/// `outStride` elements apart.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<int64_t> lhs,
          MatrixView<int64_t> rhs, int64_t *out, int64_t outStride);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H
