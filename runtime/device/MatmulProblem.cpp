//===- MatmulProblem.cpp - normalized description of a matrix product -----===//

#include "runtime/device/MatmulProblem.h"

#include <algorithm>

namespace pcc::runtime {

/// Splits `strides` into batch, row and column strides. The last two entries
/// are the strides of rows and columns.
static MatrixStrides split(const std::vector<int64_t> &strides) {
  MatrixStrides matrix;
  const size_t batch = strides.size() - 2;
  matrix.batch.assign(strides.begin(), strides.begin() + int64_t(batch));
  matrix.row = strides[batch];
  matrix.column = strides[batch + 1];
  return matrix;
}

/// Sets the row stride of a matrix if `rows`, the number of rows, is 1. Sets
/// the column stride if `columns`, the number of columns, is 1. An index in a
/// dim of size 1 is always 0, so its stride has no effect on the result. Matrix
/// libraries nevertheless reject some strides. The function sets a stride that
/// the libraries accept:
///
/// - A 5x1 matrix with row stride 1 gets column stride 5.
/// - A 5x1 matrix with row stride 7 gets column stride 1.
/// - A 1x5 matrix with column stride 1 gets row stride 5.
/// - A 1x5 matrix with column stride 7 gets row stride 1.
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

/// Merges the innermost batch dim with the rows, and repeats this as long as
/// two conditions hold:
///
/// - The batch stride of b is 0. All products along the dim then use the same
///   matrix b.
/// - In a, c and residual, the batch stride equals m times the row stride. The
///   row stride then also leads from the last row of a matrix to the first row
///   of the next matrix. For example, if m is 128 and the row stride is 64, the
///   batch stride must be 8192.
///
/// If m is 1, each matrix has one row, and its row stride has no effect. The
/// second condition is then not required. In a, c and residual, the batch
/// stride becomes the new row stride.
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
