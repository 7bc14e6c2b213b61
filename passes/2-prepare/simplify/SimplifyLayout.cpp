//===- SimplifyLayout.cpp - fewer ops that only move elements -------------===//

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

static Value composeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<ReshapeOp>(op.getInput());
  return inner ? ReshapeOp::create(rewriter, op.getLoc(), op.getType(),
                                   inner.getInput())
               : Value();
}

static Value composeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<TransposeOp>(op.getInput());
  if (!inner)
    return {};
  return TransposeOp::create(rewriter, op.getLoc(), inner.getInput(),
                             applyPermutation(inner.getPerm(), op.getPerm()));
}

/// A transpose that only moves dims of size 1 is a reshape.
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

/// For each dim of `to`, which neighbouring dims of `from` are merged in it;
/// fails if a dim of `from` is split. Dims of size 1 may be added.
///   [2, 3, 4] to [6, 1, 4]: {0, 1} {} {2}
static FailureOr<SmallVector<SmallVector<int64_t>>>
mergedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<SmallVector<int64_t>> groups;
  size_t next = 0;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    SmallVector<int64_t> group;
    int64_t product = 1;
    while (next < from.size() && (product < to[dim] || from[next] == 1) &&
           (to[dim] != 1 || from[next] == 1)) {
      // A dim of size 1 that a later dim of `to` needs is no loss there.
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

/// transpose(reshape(x)) where the reshape only merges dims (or adds some of
/// size 1): the transpose goes first, so that reshapes meet and cancel.
///   [B, H, S, D] → [B·H, S, D] → [B·H, D, S]
///   [B, H, S, D] → [B, H, D, S] → [B·H, D, S]
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

/// transpose(broadcast(x)) of equal ranks: less is moved the other way round.
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

static Value composeBroadcasts(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = definedBy<BroadcastOp>(op.getInput());
  return inner ? BroadcastOp::create(rewriter, op.getLoc(), op.getType(),
                                     inner.getInput())
               : Value();
}

/// A broadcast that only adds leading dims of size 1 is a reshape.
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

/// A slice of a concat that reads one of its inputs only.
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

/// What a matmul may read instead of `operand`, with its last two dims swapped
/// once more if `transposed` changes.
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

/// What a matmul may read instead of `operand`, whose leading dims it repeats
/// by itself.
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

/// `value`, of which one of the last two dims has size 1, as it is multiplied:
/// its elements are in the same order.
static Value asMatrix(PatternRewriter &rewriter, Location loc, Value value,
                      bool transposed) {
  if (!transposed)
    return value;
  SmallVector<int64_t> shape(shapeOf(value));
  std::swap(shape.end()[-1], shape.end()[-2]);
  return ReshapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, elementTypeOf(value)), value);
}

/// An outer product sums nothing: it is element-wise (frequencies times
/// positions of rotary embeddings).
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
