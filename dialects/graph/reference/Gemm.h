//===- Gemm.h - products of matrices in memory ----------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H
#define PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H

#include <cstdint>

namespace pcc::graph {

/// A matrix that is read with any strides: element (i, j) is
/// data[i * rowStride + j * columnStride].
template <typename T> struct MatrixView {
  const T *data;
  int64_t rowStride;
  int64_t columnStride;
};

/// out[i, j] += Σ_p lhs[i, p] · rhs[p, j]; rows of `out` are `outStride` apart.
/// The order of additions is the same on every machine.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> lhs,
          MatrixView<double> rhs, double *out, int64_t outStride);

/// The same for integers, which wrap.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<int64_t> lhs,
          MatrixView<int64_t> rhs, int64_t *out, int64_t outStride);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_GEMM_H
