//===- SimplifyLayout.cpp - rewrites of ops that only move elements -------===//

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"
#include <numeric>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

//===----------------------------------------------------------------------===//
// Reshapes and transposes
//===----------------------------------------------------------------------===//

/// Replaces reshape(reshape(x)) by one reshape of x. Returns null for other
/// ops.
static Value composeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<ReshapeOp>(op.getInput());
  return inner ? ReshapeOp::create(rewriter, op.getLoc(), op.getType(),
                                   inner.getInput())
               : Value();
}

/// Replaces transpose(transpose(x)) by one transpose of x. Returns null for
/// other ops.
static Value composeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<TransposeOp>(op.getInput());
  if (!inner)
    return {};
  return TransposeOp::create(rewriter, op.getLoc(), inner.getInput(),
                             applyPermutation(inner.getPerm(), op.getPerm()));
}

/// Replaces a transpose that only moves dims of size 1 by a reshape. A reshape
/// moves no elements. For example, a transpose of [4, 1, 5] to [1, 4, 5]
/// becomes a reshape. Returns null if the transpose changes the order of two
/// dims that are larger than 1.
static Value reshapeInsteadOfTranspose(TransposeOp op,
                                       PatternRewriter &rewriter) {
  auto shape = shapeOf(op.getInput());
  int64_t last = -1;
  for (int64_t dim : op.getPerm()) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return {};
    last = dim;
  }
  return ReshapeOp::create(rewriter, op.getLoc(), op.getType(), op.getInput());
}

/// Returns, for each dim of `to`, the dims of `from` that a reshape merges into
/// it. For a reshape from [2, 3, 4] to [6, 1, 4], returns {{0, 1}, {}, {2}}.
/// Fails if the reshape splits a dim, or if a dim has size 0.
static FailureOr<SmallVector<SmallVector<int64_t>>>
mergedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<SmallVector<int64_t>> groups;
  size_t next = 0;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    SmallVector<int64_t> group;
    int64_t product = 1;
    while (next < from.size() && (product < to[dim] || from[next] == 1) &&
           (to[dim] != 1 || from[next] == 1)) {
      // A dim of size 1 between two larger dims can be merged with either of
      // them. The loop adds it to the list of the first dim.
      product *= from[next];
      group.push_back(static_cast<int64_t>(next++));
    }
    if (product != to[dim])
      return failure();
    groups.push_back(group);
  }
  if (next != from.size())
    return failure();
  return groups;
}

/// Replaces transpose(reshape(x)) by reshape(transpose(x)). Returns null for
/// other ops, if the reshape splits a dim of x, or if x has no elements.
static Value transposeBeforeMerging(TransposeOp op, PatternRewriter &rewriter) {
  auto reshape = definedBy<ReshapeOp>(op.getInput());
  if (!reshape || llvm::is_contained(shapeOf(reshape), 0))
    return {};
  Value x = reshape.getInput();
  auto groups = mergedDims(shapeOf(x), shapeOf(reshape));
  if (failed(groups))
    return {};
  SmallVector<int64_t> perm;
  for (int64_t dim : op.getPerm())
    llvm::append_range(perm, (*groups)[dim]);
  Value moved = TransposeOp::create(rewriter, op.getLoc(), x, perm);
  return ReshapeOp::create(rewriter, op.getLoc(), op.getType(), moved);
}

/// Replaces transpose(broadcast(x)) by broadcast(transpose(x)). The transpose
/// then moves only the elements of x, and not their broadcast copies. Returns
/// null if the operand is no broadcast, or if the broadcast adds dims.
static Value transposeBeforeBroadcast(TransposeOp op,
                                      PatternRewriter &rewriter) {
  auto broadcast = definedBy<BroadcastOp>(op.getInput());
  if (!broadcast || shapeOf(broadcast.getInput()).size() != op.getPerm().size())
    return {};
  Value moved = TransposeOp::create(rewriter, op.getLoc(), broadcast.getInput(),
                                    op.getPerm());
  return BroadcastOp::create(rewriter, op.getLoc(), op.getType(), moved);
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// Replaces broadcast(broadcast(x)) by one broadcast of x. Returns null for
/// other ops.
static Value composeBroadcasts(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<BroadcastOp>(op.getInput());
  return inner ? BroadcastOp::create(rewriter, op.getLoc(), op.getType(),
                                     inner.getInput())
               : Value();
}

/// Replaces a broadcast that only adds leading dims of size 1 by a reshape.
/// Returns null for other broadcasts.
static Value reshapeInsteadOfBroadcast(BroadcastOp op,
                                       PatternRewriter &rewriter) {
  if (tensorType(op.getInput()).getNumElements() !=
      tensorType(op.getResult()).getNumElements())
    return {};
  return ReshapeOp::create(rewriter, op.getLoc(), op.getType(), op.getInput());
}

//===----------------------------------------------------------------------===//
// Slices and concats
//===----------------------------------------------------------------------===//

/// Replaces slice(slice(x)) by one slice of x. Returns null for other ops.
static Value composeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<SliceOp>(op.getInput());
  if (!inner)
    return {};
  SmallVector<int64_t> starts, steps;
  for (auto [outer, first, step, innerStep] :
       llvm::zip_equal(op.getStarts(), inner.getStarts(), op.getSteps(),
                       inner.getSteps())) {
    starts.push_back(first + outer * innerStep);
    steps.push_back(step * innerStep);
  }
  return SliceOp::create(rewriter, op.getLoc(), inner.getInput(), starts,
                         op.getSizes(), steps);
}

/// Replaces a slice of a concat by a slice of one operand of the concat, if all
/// sliced elements come from that operand. Returns null otherwise.
static Value sliceOneInput(SliceOp op, PatternRewriter &rewriter) {
  auto concat = definedBy<ConcatOp>(op.getInput());
  if (!concat || llvm::is_contained(op.getSizes(), 0))
    return {};
  size_t dim = concat.getDim();
  int64_t first = op.getStarts()[dim],
          last = first + (op.getSizes()[dim] - 1) * op.getSteps()[dim],
          begin = 0;
  for (Value input : concat.getInputs()) {
    int64_t end = begin + shapeOf(input)[dim];
    if (std::min(first, last) >= begin && std::max(first, last) < end) {
      SmallVector<int64_t> starts(op.getStarts());
      starts[dim] -= begin;
      return SliceOp::create(rewriter, op.getLoc(), input, starts,
                             op.getSizes(), op.getSteps());
    }
    begin = end;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// If `operand` is a transpose of x that swaps only the last two dims, returns
/// x and inverts `transposed`, the flag that makes the matmul swap these dims.
/// Otherwise returns null and does not change `transposed`.
static Value absorbedTranspose(Value operand, bool &transposed) {
  auto transpose = definedBy<TransposeOp>(operand);
  if (!transpose)
    return {};
  size_t rank = transpose.getPerm().size();
  SmallVector<int64_t> swap(rank);
  std::iota(swap.begin(), swap.end(), 0);
  if (rank < 2)
    return {};
  std::swap(swap[rank - 2], swap[rank - 1]);
  if (transpose.getPerm() != ArrayRef(swap))
    return {};
  transposed = !transposed;
  return transpose.getInput();
}

/// Returns the input of the broadcast that computes the matmul operand
/// `operand`. The matmul can read this input, because a matmul broadcasts its
/// batch dims (all but the last two). Returns null if there is no broadcast, or
/// if the result of the matmul would change.
static Value absorbedBroadcast(Value operand, Value other) {
  auto broadcast = definedBy<BroadcastOp>(operand);
  if (!broadcast)
    return {};
  Value input = broadcast.getInput();
  auto own = shapeOf(input), all = shapeOf(operand);
  if (own.size() < 2 || own.take_back(2) != all.take_back(2))
    return {};
  auto batch = broadcastShapes(own.drop_back(2), shapeOf(other).drop_back(2));
  auto wanted = broadcastShapes(all.drop_back(2), shapeOf(other).drop_back(2));
  return succeeded(batch) && *batch == *wanted ? input : Value();
}

/// Replaces matmul(transpose(x), y) or matmul(broadcast(x), y) by a matmul that
/// reads x, and transposes or broadcasts x itself. The right operand is treated
/// alike. Returns null if no operand can be replaced.
static Value absorbIntoMatmul(MatmulOp op, PatternRewriter &rewriter) {
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();
  Value lhs = absorbedTranspose(op.getLhs(), transposeLhs),
        rhs = absorbedTranspose(op.getRhs(), transposeRhs);
  if (!lhs)
    lhs = absorbedBroadcast(op.getLhs(), rhs ? rhs : op.getRhs());
  if (!rhs)
    rhs = absorbedBroadcast(op.getRhs(), lhs ? lhs : op.getLhs());
  if (!lhs && !rhs)
    return {};
  return MatmulOp::create(rewriter, op.getLoc(), lhs ? lhs : op.getLhs(),
                          rhs ? rhs : op.getRhs(), transposeLhs, transposeRhs);
}

/// Returns the matrix (or the batch of matrices) that a matmul reads from its
/// operand `value`. If `transposed` is true, the matmul swaps the last two dims
/// of `value`. The function then returns `value` with these dims swapped. One
/// of the two dims must have size 1, so that a reshape can swap the dims. An
/// example is a reshape of [7, 1, 5] to [7, 5, 1].
static Value asMatrix(PatternRewriter &rewriter, Location loc, Value value,
                      bool transposed) {
  if (!transposed)
    return value;
  SmallVector<int64_t> shape(shapeOf(value));
  std::swap(shape.end()[-1], shape.end()[-2]);
  return ReshapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, elementTypeOf(value)), value);
}

/// Replaces a matmul whose contracted dim has size 1 (an outer product) by an
/// element-wise product. An example is token indices times frequencies in
/// rotary embeddings. Returns null for any other matmul.
static Value outerProduct(MatmulOp op, PatternRewriter &rewriter) {
  if (shapeOf(op.getLhs()).end()[op.getTransposeLhs() ? -2 : -1] != 1)
    return {};
  Location loc = op.getLoc();
  return MulOp::create(
      rewriter, loc, asMatrix(rewriter, loc, op.getLhs(), op.getTransposeLhs()),
      asMatrix(rewriter, loc, op.getRhs(), op.getTransposeRhs()));
}

void pcc::prepare::addLayoutSimplifications(RewritePatternSet &patterns) {
  addRewrites(patterns, composeReshapes, composeTransposes,
              reshapeInsteadOfTranspose, transposeBeforeMerging,
              transposeBeforeBroadcast);
  addRewrites(patterns, composeBroadcasts, reshapeInsteadOfBroadcast,
              composeSlices, sliceOneInput, absorbIntoMatmul, outerProduct);
}
