//===- Resize.cpp - gradient of resize ------------------------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include "dialects/graph/ops/Resampling.h"

using namespace mlir;
using namespace pcc::graph;

static int64_t sizeOf(Value value, int64_t dim) {
  return tensorType(value).getDimSize(dim);
}

/// Returns whether the resize repeats each operand element along `dim` equally
/// often, as in mode nearest with an integer factor:
///
///   [a b] resized by factor 2:  [a a b b]
static bool repeatsEach(ResizeOp op, int64_t dim) {
  int64_t from = sizeOf(op.getInput(), dim), to = sizeOf(op.getResult(), dim);
  if (op.getMode() != ResizeMode::Nearest || to % from)
    return false;
  return llvm::all_of(llvm::seq<int64_t>(0, to), [&](int64_t i) {
    return tapsOf(op, dim, i).front().index == i / (to / from);
  });
}

/// Builds the gradient of a resize along `dim` that repeats each element
/// equally often: sums the gradients of all copies of an element.
///
///   forward:   [a b] to [a a b b]
///   gradient:  [p q r s] to [p+q r+s]
static Value sumCopies(GradientBuilder &b, ResizeOp op, Value gradient,
                       int64_t dim) {
  SmallVector<int64_t> shape(tensorType(gradient).getShape()), split(shape);
  shape[dim] = split[dim] = sizeOf(op.getInput(), dim);
  split.insert(split.begin() + dim + 1,
               sizeOf(op.getResult(), dim) / shape[dim]);
  return b.reshape(b.sum(b.reshape(gradient, split), {dim + 1}), shape);
}

/// Builds the matrix of the resize along `dim`, with one row per result element
/// and one column per operand element. The matrix has the element type of
/// `model`.
static Value shares(GradientBuilder &b, ResizeOp op, int64_t dim, Value model) {
  int64_t from = sizeOf(op.getInput(), dim), to = sizeOf(op.getResult(), dim);
  SmallVector<double> shares(from * to, 0);
  for (int64_t i = 0; i < to; ++i)
    for (Tap tap : tapsOf(op, dim, i))
      shares[i * from + tap.index] += tap.weight;
  return b.table(shares, {to, from}, model);
}

/// Multiplies `gradient` along `dim` by the transpose of `matrix`, the matrix
/// of the forward resize along `dim`.
static Value multiply(GradientBuilder &b, Value gradient, Value matrix,
                      int64_t dim) {
  std::string from, to;
  for (int64_t i = 0; i < tensorType(gradient).getRank(); ++i) {
    from += static_cast<char>('a' + i);
    to += i == dim ? 'z' : from.back();
  }
  std::string equation = from + "," + from[dim] + "z->" + to;
  return b.make<EinsumOp>(equation, ValueRange{gradient, matrix});
}

Gradients ResizeOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value gradient = b.widen(gradients.front());
  for (int64_t dim = 0; dim < tensorType(gradient).getRank(); ++dim)
    if (isResized(*this, dim))
      gradient =
          repeatsEach(*this, dim)
              ? sumCopies(b, *this, gradient, dim)
              : multiply(b, gradient, shares(b, *this, dim, gradient), dim);
  return onlyGradient(b.castLike(gradient, getInput()));
}
