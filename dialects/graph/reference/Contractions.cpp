//===- Contractions.cpp - evaluators of matmul and einsum -----------------===//

#include "dialects/graph/ops/EinsumEquation.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {
/// Strides and sizes of the matrices in one operand of a batched matmul.
struct BatchedMatrix {
  int64_t rows, columns; ///< after the transposition
  int64_t rowStride, columnStride;
  Strides batch; ///< strides along the batch dims of the result; 0 if broadcast

  /// Computes the sizes and strides of the matrices of `tensor`, a matmul
  /// operand: the last two dims, exchanged if `transposed` is true. All other
  /// dims of `tensor` are broadcast to `batchDims`, the batch dims of the
  /// result.
  BatchedMatrix(const HostTensor &tensor, bool transposed,
                ArrayRef<int64_t> batchDims)
      : rows(tensor.shape.end()[-2]), columns(tensor.shape.end()[-1]),
        rowStride(columns), columnStride(1),
        batch(
            broadcastStrides(ArrayRef(tensor.shape).drop_back(2), batchDims)) {
    for (int64_t &stride : batch)
      stride *= rows * columns;
    if (transposed) {
      std::swap(rows, columns);
      std::swap(rowStride, columnStride);
    }
  }

  /// Returns a view of one matrix of `tensor`. `offset` is the number of
  /// elements of `tensor` before the matrix. For example, a tensor [2, 3, 4]
  /// has 2 matrices of 12 elements, whose offsets are 0 and 12.
  template <typename T>
  MatrixView<T> view(const HostTensor &tensor, int64_t offset) const {
    return {tensor.data<T>() + offset, rowStride, columnStride};
  }
};
} // namespace

/// Evaluates matmul by calls of gemm(), which multiplies two matrices. There
/// is one call per batch index in general. There is only one call in total if
/// the right operand is a single matrix for all batch indices, and if the left
/// operand is neither transposed nor broadcast:
///
///   [8, 3, 4] times [4, 5]:  one product of a 24 by 4 and a 4 by 5 matrix
static LogicalResult matmul(Evaluation &e) {
  auto op = cast<MatmulOp>(e.op);
  ArrayRef<int64_t> batch = ArrayRef(e.out().shape).drop_back(2);
  BatchedMatrix lhs(e.in(0), op.getTransposeLhs(), batch),
      rhs(e.in(1), op.getTransposeRhs(), batch);
  // If possible, treat all matrices of lhs as one matrix with more rows. This
  // requires that rhs is a single matrix for the whole batch, and that lhs is
  // neither transposed nor broadcast.
  Strides whole(batch.size(), 0);
  bool foldsBatch =
      rhs.batch == whole && !op.getTransposeLhs() &&
      e.in(0).numElements() * rhs.columns == e.out().numElements() * rhs.rows;
  withStorage(e.out().kind, [&](auto zero) {
    using T = decltype(zero);
    T *out = e.out().data<T>();
    int64_t m = lhs.rows, n = rhs.columns, k = rhs.rows;
    if (foldsBatch)
      return gemm(m * ShapedType::getNumElements(batch), n, k,
                  lhs.view<T>(e.in(0), 0), rhs.view<T>(e.in(1), 0), out, n);
    forEachRow<2>(batch, {lhs.batch, rhs.batch},
                  [&](auto at, int64_t count, auto step) {
                    for (int64_t i = 0; i < count; ++i, out += m * n)
                      gemm(m, n, k, lhs.view<T>(e.in(0), at[0] + i * step[0]),
                           rhs.view<T>(e.in(1), at[1] + i * step[1]), out, n);
                  });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

namespace {
/// A tensor whose dims are named by einsum letters, one letter per dim.
struct LetteredTensor {
  std::string letters;
  HostTensor tensor;

  /// Returns the size of the dim whose einsum letter is `letter`.
  int64_t sizeOf(char letter) const {
    return tensor.shape[letters.find(letter)];
  }
  /// Returns the product of the sizes of the dims whose einsum letters are in
  /// `some`.
  int64_t product(StringRef some) const {
    int64_t size = 1;
    for (char letter : some)
      size *= sizeOf(letter);
    return size;
  }
};
} // namespace

/// Returns the letters of the string `letters` that occur in `among`, in their
/// order. If `contained` is false, returns the letters that do not occur in
/// `among`. For `letters` "abc" and `among` "bd", the result is "b" if
/// `contained` is true, and "ac" otherwise.
static std::string filter(StringRef letters, StringRef among, bool contained) {
  std::string result;
  for (char letter : letters)
    if (among.contains(letter) == contained)
      result += letter;
  return result;
}

/// Returns `term`, a tensor with one einsum letter per dim, transposed so that
/// its letters have the order of `letters`.
static LetteredTensor reordered(const LetteredTensor &term,
                                std::string letters) {
  SmallVector<int64_t> shape, strides, own = rowMajor(term.tensor.shape);
  for (char letter : letters) {
    shape.push_back(term.sizeOf(letter));
    strides.push_back(own[term.letters.find(letter)]);
  }
  LetteredTensor result{std::move(letters),
                        HostTensor::zeros(shape, term.tensor.kind)};
  withStorage(term.tensor.kind, [&](auto zero) {
    using T = decltype(zero);
    copyStrided(shape, result.tensor.data<T>(), rowMajor(shape),
                term.tensor.data<T>(), strides);
  });
  return result;
}

/// Multiplies `a` and `b` as an einsum. Each tensor has one letter per dim. The
/// function sums over the letters that both have, except the letters in `keep`.
/// The result has first the common letters in `keep`, then the letters of `a`
/// only, then the letters of `b` only. For example, xip times xpj with `keep`
/// xij is summed over p, and the result has the letters xij.
static LetteredTensor contract(const LetteredTensor &a, const LetteredTensor &b,
                               StringRef keep) {
  std::string both = filter(a.letters, b.letters, true);
  std::string batch = filter(both, keep, true), k = filter(both, keep, false);
  std::string m = filter(a.letters, both, false),
              n = filter(b.letters, both, false);
  LetteredTensor lhs = reordered(a, batch + m + k),
                 rhs = reordered(b, batch + k + n);
  SmallVector<int64_t> shape;
  for (char letter : batch + m)
    shape.push_back(a.sizeOf(letter));
  for (char letter : n)
    shape.push_back(b.sizeOf(letter));
  LetteredTensor result{batch + m + n, HostTensor::zeros(shape, a.tensor.kind)};
  int64_t rows = a.product(m), columns = b.product(n), depth = a.product(k);
  withStorage(a.tensor.kind, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < a.product(batch); ++i)
      gemm(
          rows, columns, depth,
          MatrixView<T>{lhs.tensor.data<T>() + i * rows * depth, depth, 1},
          MatrixView<T>{rhs.tensor.data<T>() + i * depth * columns, columns, 1},
          result.tensor.data<T>() + i * rows * columns, columns);
  });
  return result;
}

/// Returns a tensor of ones with one dim per einsum letter in `letters`. Each
/// dim has the size of the dim of `term` that has the same letter. For example,
/// `term` has the letters abc and the shape [2, 3, 4]. If `letters` is ca, the
/// result has the shape [4, 2].
static LetteredTensor ones(StringRef letters, const LetteredTensor &term) {
  SmallVector<int64_t> shape;
  for (char letter : letters)
    shape.push_back(term.sizeOf(letter));
  LetteredTensor result{letters.str(),
                        HostTensor::zeros(shape, term.tensor.kind)};
  llvm::fill(result.tensor.floats, 1);
  llvm::fill(result.tensor.ints, 1);
  return result;
}

/// Returns `term`, a tensor with one einsum letter per dim, summed over each
/// dim whose letter is not in `keep`.
static LetteredTensor summed(const LetteredTensor &term, StringRef keep) {
  std::string gone = filter(term.letters, keep, false);
  return gone.empty() ? term : contract(term, ones(gone, term), keep);
}

/// Evaluates einsum: multiplies the operands one after another. Sums over an
/// einsum letter as soon as neither a later operand nor the result has it.
static LogicalResult einsum(Evaluation &e) {
  auto equation = EinsumEquation::parse(cast<EinsumOp>(e.op).getEquation());
  if (failed(equation))
    return e.fail("has an equation that is not of the form 'ab,bc->ac'");
  LetteredTensor total = ones("", {"", HostTensor::zeros({}, e.out().kind)});
  for (size_t i = 0; i < e.operands.size(); ++i) {
    std::string later = equation->result.str();
    for (size_t j = i + 1; j < e.operands.size(); ++j)
      later += equation->operands[j];
    LetteredTensor term{equation->operands[i].str(), e.in(i)};
    total = contract(total, summed(term, later + total.letters), later);
  }
  e.out() = reordered(total, equation->result.str()).tensor;
  return success();
}

void pcc::graph::addContractionEvaluators(EvaluatorTable &table) {
  table.add<MatmulOp>(matmul);
  table.add<EinsumOp>(einsum);
}
