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

/// Sets the stride of a dim of size 1 to that of a dense matrix. The stride has
/// no effect, but libraries reject other numbers.
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

/// Loops over the batch dims, innermost first. Erases a dim that has size 1 or
/// that is merged into its inner neighbor. A merged dim keeps the inner stride.
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

/// Merges the innermost batch dim with the rows, as long as b is broadcast over
/// it and the strides of a, c and residual allow this. For example, with m =
/// 128 and a row stride of 64, the batch stride must be 128 * 64. With m = 1,
/// it may be any number.
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
