//===- Pools.cpp - gradients of pools -------------------------------------===//

#include "dialects/graph/gradients/SlidingWindow.h"
#include "dialects/graph/ops/Window.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

/// Divides each element of `dy`, the gradient of an average pool's result, by
/// the number of averaged elements. Padding counts only for kind
/// AverageWithPadding.
static Value divided(GradientBuilder &b, PoolOp op, Value dy) {
  size_t numDims = op.getWindow().size();
  for (size_t dim = 0; dim < numDims; ++dim) {
    SmallVector<double> counts;
    for (int64_t output = 0; output < spatial(dy)[dim]; ++output)
      counts.push_back(static_cast<double>(countedTaps(op, dim, output)));
    SmallVector<int64_t> shape(numDims - dim, 1);
    shape[0] = spatial(dy)[dim];
    dy = llvm::all_equal(counts) ? b.div(dy, counts.front())
                                 : b.div(dy, b.table(counts, shape, dy));
  }
  return dy;
}

/// Builds the gradient of the operand of an average pool. `dy` is the gradient
/// of the result. The pool sums the elements of each window, then divides each
/// sum by the number of averaged elements. The sums are a depthwise convolution
/// with a filter of ones. The gradient therefore divides `dy` by the same
/// numbers, then applies a conv_transpose with a filter of ones.
static Value averageGradient(GradientBuilder &b, PoolOp op, Value dy) {
  int64_t channels = tensorType(dy).getDimSize(1);
  SmallVector<int64_t> shape{channels, 1};
  llvm::append_range(shape, op.getWindow());
  SlidingWindow sliding{op.getStrides(),
                        op.getPads().take_front(op.getWindow().size()),
                        op.getDilations(), channels};
  return convolveBack(b, divided(b, op, dy), b.broadcast(b.like(dy, 1), shape),
                      sliding, spatial(op.getInput()));
}

/// Interleaves tensors along `dim`:
///
///   [a b] and [c d]:  [a c b d]
static Value interleave(GradientBuilder &b, ArrayRef<Value> values,
                        int64_t dim) {
  int64_t count = static_cast<int64_t>(values.size());
  if (count == 1)
    return values.front();
  SmallVector<int64_t> shape(tensorType(values.front()).getShape()),
      split(shape);
  split.insert(split.begin() + dim + 1, 1);
  shape[dim] *= count;
  auto parts = llvm::map_to_vector(
      values, [&](Value value) { return b.reshape(value, split); });
  return b.reshape(b.make<ConcatOp>(parts, static_cast<uint64_t>(dim + 1)),
                   shape);
}

namespace {
/// Builds the gradient of the input of a max pool without a scatter. The
/// gradient of a result element goes to the first input element of the window
/// that equals the maximum. A tap is an index within a window. A phase is the
/// set of input elements whose indices have the same remainder modulo the
/// stride. At one tap, all windows read one phase.
class MaxPoolGradient {
public:
  MaxPoolGradient(GradientBuilder &b, PoolOp op, Value dy)
      : b(b), op(op), dy(dy), numDims(op.getWindow().size()), padded(pad()),
        phases(ShapedType::getNumElements(op.getStrides())) {}

  /// Returns the gradient of the pool's operand.
  Value build() {
    SmallVector<int64_t> tap(numDims, 0);
    do
      addTap(tap);
    while (next(tap));
    SmallVector<int64_t> none(2, 0), cut(2, 0);
    for (size_t dim = 0; dim < numDims; ++dim) {
      none.push_back(0);
      cut.push_back(spatial(op.getInput())[dim] -
                    coarseSize(dim) * op.getStrides()[dim]);
    }
    return b.pad(takeTurns(), none, cut);
  }

private:
  /// Returns the size of each tensor in `phases` along spatial dim `dim`: the
  /// size of the input divided by the stride, rounded up.
  int64_t coarseSize(size_t dim) {
    return llvm::divideCeilSigned(spatial(op.getInput())[dim],
                                  op.getStrides()[dim]);
  }

  /// Adds the gradient of a result element to its input element, for all
  /// windows with the first maximum at index `tap`. The sums are in `phases`.
  /// Must be called once for each index within a window, in row-major order.
  void addTap(ArrayRef<int64_t> tap) {
    int64_t phase = 0;
    SmallVector<int64_t> low(2, 0), high(2, 0);
    for (size_t dim = 0; dim < numDims; ++dim) {
      int64_t stride = op.getStrides()[dim],
              start = tap[dim] * op.getDilations()[dim] - op.getPads()[dim];
      low.push_back(llvm::divideFloorSigned(start, stride));
      high.push_back(coarseSize(dim) - spatial(dy)[dim] - low.back());
      phase = phase * stride + start - low.back() * stride;
    }
    Value part = b.pad(b.where(isFirst(tap), dy), low, high);
    Value &sum = phases[phase];
    sum = sum ? b.add(sum, part) : part;
  }

  /// Interleaves the tensors in `phases`. For one spatial dim with stride 2,
  /// [a c e] and [b d f] become [a b c d e f]. A null tensor counts as zeros.
  /// Each spatial dim of the result is a multiple of the stride, and can exceed
  /// the dim of the input. The caller must remove the excess elements.
  Value takeTurns() {
    SmallVector<int64_t> shape(tensorType(dy).getShape().take_front(2));
    for (size_t dim = 0; dim < numDims; ++dim)
      shape.push_back(coarseSize(dim));
    for (Value &phase : phases)
      phase = phase ? phase : b.zeros(tensorType(dy).clone(shape));
    for (size_t dim = numDims; dim-- > 0;) {
      size_t count = op.getStrides()[dim];
      SmallVector<Value> coarser;
      for (size_t i = 0; i < phases.size(); i += count)
        coarser.push_back(interleave(b, ArrayRef(phases).slice(i, count),
                                     static_cast<int64_t>(dim) + 2));
      phases = std::move(coarser);
    }
    return phases.front();
  }

  /// Pads the input with -infinity, which is never a maximum. The result ends
  /// where the last window ends.
  Value pad() {
    Value x = op.getInput();
    SmallVector<int64_t> low(2, 0), high(2, 0);
    for (size_t dim = 0; dim < numDims; ++dim) {
      int64_t reach = (spatial(dy)[dim] - 1) * op.getStrides()[dim] +
                      (op.getWindow()[dim] - 1) * op.getDilations()[dim] + 1;
      low.push_back(op.getPads()[dim]);
      high.push_back(reach - low.back() - spatial(x)[dim]);
    }
    return b.pad(x, low, high, -HUGE_VAL);
  }

  /// Builds a boolean tensor with one element per window. An element is true if
  /// the first maximum of its window is at index `tap` within the window. The
  /// first maximum is the first element of the window, in row-major order, that
  /// equals the maximum of the window: index 1 in the window [1 7 7]. Must be
  /// called once for each index within a window, in row-major order, because
  /// the member `found` records the previous calls.
  Value isFirst(ArrayRef<int64_t> tap) {
    SmallVector<int64_t> starts(2, 0), steps(2, 1);
    for (auto [index, dilation] : llvm::zip_equal(tap, op.getDilations()))
      starts.push_back(index * dilation);
    llvm::append_range(steps, op.getStrides());
    Value x = b.make<SliceOp>(padded, starts, tensorType(dy).getShape(), steps);
    Value wins = b.compare(Predicate::Equal, x, op.getResult());
    Value first = found ? b.make<AndOp>(wins, b.apply<NotOp>(found)) : wins;
    found = found ? b.make<OrOp>(found, wins) : wins;
    return first;
  }

  /// Advances `tap`, the indices of a window element, to the next window
  /// element in row-major order. Returns false after the last one.
  bool next(SmallVectorImpl<int64_t> &tap) {
    for (size_t dim = tap.size(); dim-- > 0;) {
      if (++tap[dim] < op.getWindow()[dim])
        return true;
      tap[dim] = 0;
    }
    return false;
  }

  GradientBuilder &b;
  PoolOp op;
  Value dy;
  size_t numDims;
  /// `padded` is the input, padded with -infinity. `found` is a boolean tensor
  /// with one element per window. isFirst() is called once for each index
  /// within a window. For windows of 3 elements, these are the indices 0, 1 and
  /// 2. The call for index i compares element i of each window with the maximum
  /// of the window. If they are equal, the call sets the element of `found` for
  /// this window to true. `found` is null before the first call.
  Value padded, found;
  /// Gradients of all input elements, split into one tensor per phase. A phase
  /// consists of all input elements whose indices have the same remainders
  /// modulo the strides. For one spatial dim with stride 2, phases[0] has the
  /// gradients at even indices, and phases[1] has the gradients at odd indices.
  /// A tensor is null until the first gradients are added to it.
  SmallVector<Value> phases;
};
} // namespace

Gradients PoolOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front();
  return onlyGradient(getKind() == PoolKind::Max
                          ? MaxPoolGradient(b, *this, dy).build()
                          : averageGradient(b, *this, dy));
}
