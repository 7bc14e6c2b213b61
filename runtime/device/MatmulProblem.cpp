//===- MatmulProblem.cpp - normalized description of a matrix product -----===//

#include "runtime/device/MatmulProblem.h"

#include <algorithm>

namespace pcc::runtime {

/// Returns the location of an operand whose strides an instruction lists: those
/// of the batch dims, then those of the rows and the columns. The offset is 0.
static MatrixStrides split(const std::vector<int64_t> &strides) {
  MatrixStrides matrix;
  const size_t batch = strides.size() - 2;
  matrix.batch.assign(strides.begin(), strides.begin() + int64_t(batch));
  matrix.row = strides[batch];
  matrix.column = strides[batch + 1];
  return matrix;
}

/// Replaces the stride of a dim with a single element, which has no effect, by
/// one that libraries accept: the matrix becomes dense along that dim.
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

/// Visits the dims from the innermost to the outermost. A merged dim disappears
/// into the next inner one, whose strides stay.
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

/// A batch dim continues the rows if its stride is that of m rows. With m = 1
/// the stride of a row has no effect, so the stride of the batch dim replaces
/// it.
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
