//===- MatmulProblem.cpp - normalized description of a matrix product -----===//

#include "runtime/device/MatmulProblem.h"

#include <algorithm>

namespace pcc::runtime {

/// Returns the strides of a batch of matrices. `strides` contains one stride
/// per dim. The last dim counts the columns of a matrix, and the second last
/// dim counts the rows of a matrix. All other dims are batch dims. For example,
/// let `strides` be {8192, 64, 1}. The result has the batch strides {8192}, the
/// row stride 64 and the column stride 1.
static MatrixStrides split(const std::vector<int64_t> &strides) {
  MatrixStrides matrix;
  const size_t batch = strides.size() - 2;
  matrix.batch.assign(strides.begin(), strides.begin() + int64_t(batch));
  matrix.row = strides[batch];
  matrix.column = strides[batch + 1];
  return matrix;
}

/// Replaces strides that have no effect by strides that matrix libraries
/// accept. The stride of a dim of size 1 has no effect, but matrix libraries
/// reject some values. If `columns` is 1, the column stride becomes `rows` if
/// the row stride is 1, otherwise 1. If `rows` is 1, the row stride becomes
/// `columns` if the column stride is 1, otherwise 1. For example, a 5x1 matrix
/// with row stride 1 gets column stride 5. Each new stride is at least 1, even
/// if the matrix has no elements.
static void normalize(MatrixStrides &matrix, int64_t rows, int64_t columns) {
  if (columns == 1)
    matrix.column = matrix.row == 1 ? std::max<int64_t>(rows, 1) : 1;
  if (rows == 1)
    matrix.row = matrix.column == 1 ? std::max<int64_t>(columns, 1) : 1;
}

MatmulProblem::MatmulProblem(const program::MatmulT &matmul, ElementType type)
    : type(type), batch(matmul.batch), m(matmul.m), n(matmul.n), k(matmul.k),
      a(split(matmul.a_strides)), b(split(matmul.b_strides)),
      c(split(matmul.c_strides)), alpha(matmul.alpha),
      activation(matmul.activation), hasBias(matmul.bias >= 0),
      hasResidual(matmul.residual >= 0), oneByOne(matmul.one_by_one),
      sums(matmul.a_sums >= 0   ? Sums::OfA
           : matmul.b_sums >= 0 ? Sums::OfB
                                : Sums::None) {
  a.offset = matmul.a_offset;
  b.offset = matmul.b_offset;
  residual = hasResidual ? split(matmul.residual_strides) : c;
  mergeBatches();
  if (!oneByOne)
    mergeIntoRows();
  normalize(a, m, k);
  normalize(b, k, n);
  normalize(c, m, n);
  normalize(residual, m, n);
}

int64_t MatmulProblem::numBatches() const {
  int64_t product = 1;
  for (int64_t size : batch)
    product *= size;
  return product;
}

std::vector<MatrixStrides *> MatmulProblem::matrices() {
  return {&a, &b, &c, &residual};
}

bool MatmulProblem::canMerge(const MatrixStrides &matrix, size_t outer) const {
  return matrix.batch[outer] == matrix.batch[outer + 1] * batch[outer + 1];
}

/// Visits the batch dims from the innermost to the outermost. Removes a batch
/// dim in two cases:
///
/// - The dim has size 1.
/// - The dim can be merged with the next inner dim. In each matrix, the stride
///   of the outer dim must equal the stride of the inner dim times the size of
///   the inner dim. The size of the inner dim is then multiplied by the size of
///   the outer dim. The inner stride does not change.
///
/// For example, batch sizes {2, 3} with strides {30, 10} in all matrices become
/// the size {6} with the stride {10}.
void MatmulProblem::mergeBatches() {
  for (size_t dim = batch.size(); dim-- > 0;) {
    const bool hasInner = dim + 1 < batch.size();
    const bool merges = hasInner && canMerge(a, dim) && canMerge(b, dim) &&
                        canMerge(c, dim) && canMerge(residual, dim);
    if (batch[dim] != 1 && !merges)
      continue;
    if (merges)
      batch[dim + 1] *= batch[dim];
    batch.erase(batch.begin() + int64_t(dim));
    for (MatrixStrides *matrix : matrices())
      matrix->batch.erase(matrix->batch.begin() + int64_t(dim));
  }
}

/// Merges the innermost batch dim with the rows, as long as this is possible.
/// For example, 8 products of matrices `a` [128, 64] with one matrix `b` [64,
/// 32] become one product of `a` [1024, 64] and `b`. The stride of the batch
/// dim must be 0 in `b`, and `m` times the row stride in `a`, in `c` and in
/// `residual`. In the example, row stride 64 requires batch stride 8192.
///
/// If `m` is 1, the condition for `a`, `c` and `residual` need not hold. The
/// row stride then has no effect, and the batch stride replaces it.
void MatmulProblem::mergeIntoRows() {
  while (!batch.empty() && b.batch.back() == 0) {
    for (const MatrixStrides *matrix : {&a, &c, &residual})
      if (m != 1 && matrix->batch.back() != matrix->row * m)
        return;
    if (m == 1)
      for (MatrixStrides *matrix : {&a, &c, &residual})
        matrix->row = matrix->batch.back();
    m *= batch.back();
    batch.pop_back();
    for (MatrixStrides *matrix : matrices())
      matrix->batch.pop_back();
  }
}

} // namespace pcc::runtime
