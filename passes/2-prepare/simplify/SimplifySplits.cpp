//===- SimplifySplits.cpp - cancellation of merged and split dims ---------===//
//
// Exporters flatten dims around a product and split them behind it:
//
//   x [B, S, K] → [B·S, K];  y = x · w + b;  y [B·S, N] → [B, S, N]
//
// The split moves up through the ops between them until it meets the merge, and
// the two reshapes cancel: y = x · w + b on [B, S, …]. The split moves only if
// every path up from it ends at a reshape or a constant, which absorbs it, so
// that no reshape is added.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops through which a split (reshape that divides dim 0) is
/// moved to its operands.
static constexpr int maxDepth = 8;

namespace {
/// A split: a reshape that divides dim 0 into several dims, such as [8, 5] to
/// [2, 4, 5]. A value in split form has the shape that the split gives it:
///
///   shape     split form
///   [8, 5]    [2, 4, 5]
///   [1, 5]    [1, 1, 5]    the value is broadcast along dim 0
///   [5]       [5]          the value lacks dim 0
class Split {
public:
  /// Returns the split (division of dim 0 into several dims) that the reshape
  /// `op` performs. Returns nullopt if `op` changes another dim than dim 0, or
  /// does not divide dim 0.
  static std::optional<Split> of(ReshapeOp op) {
    auto from = shapeOf(op.getInput()), to = shapeOf(op);
    if (from.empty() || to.size() <= from.size() || from[0] == 0 ||
        from.drop_front() != to.take_back(from.size() - 1))
      return {};
    Split split;
    split.size = from[0];
    split.rank = from.size();
    split.parts.assign(to.begin(), to.end() - (from.size() - 1));
    return split;
  }

  /// Returns whether `value` can be computed in split form (with dim 0 divided)
  /// without a new reshape in the program. The search visits the operands of
  /// `value` through at most `depth` ops. On every path it must reach one of
  /// these:
  ///
  ///   - a reshape or constant, which can produce the split form directly
  ///   - a value that the split does not change
  bool vanishesIn(Value value, int depth) const {
    if (isUntouched(value))
      return true;
    auto shape = shapeOf(value);
    if (shape[0] != size && shape[0] != 1)
      return false;
    if (definedBy<ConstantOp>(value))
      return true;
    if (definedBy<ReshapeOp>(value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && depth > 0 && value.hasOneUse() && !op->hasAttr(pinnedName) &&
           movesUp(op, depth - 1);
  }

  /// Creates the ops that compute `value` in split form (with dim 0 divided),
  /// and returns the result. vanishesIn(value) must be true.
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // In a product of two matrices, only the left operand has dim 0 of the
    // result, which is split.
    bool isPlainProduct = isa<MatmulOp>(op) && rank == 2;
    for (size_t i = 0; i < (isPlainProduct ? 1 : operands.size()); ++i)
      operands[i] = apply(operands[i], rewriter);
    Operation *split = rewriter.clone(*op);
    split->setOperands(operands);
    split->getResult(0).setType(type);
    split->removeAttr(nameName);
    if (auto softmax = dyn_cast<SoftmaxOp>(split))
      softmax.setDim(softmax.getDim() + numAdded());
    return split->getResult(0);
  }

private:
  /// Returns the number of dims that the split adds to a value: 1 if [8·4, …]
  /// becomes [8, 4, …].
  int64_t numAdded() const { return static_cast<int64_t>(parts.size()) - 1; }

  /// Returns whether the split (division of dim 0) does not change `value`: its
  /// rank is so low that it is broadcast along dim 0.
  bool isUntouched(Value value) const { return shapeOf(value).size() < rank; }

  /// Returns the shape that `value` has in split form (with dim 0 divided).
  SmallVector<int64_t> splitShape(Value value) const {
    auto shape = shapeOf(value);
    SmallVector<int64_t> result(parts);
    if (shape[0] == 1)
      result.assign(parts.size(), 1);
    llvm::append_range(result, shape.drop_front());
    return result;
  }

  /// Returns whether the split (division of dim 0) can be moved from the result
  /// of `op` to its operands:
  ///
  ///   - `op` can compute its result in split form from operands in split form
  ///   - vanishesIn returns true for each operand that is split
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // Dim 0, which is split, must be a batch dim of both operands or the rows
      // of the left operand.
      size_t rhs = shapeOf(matmul.getRhs()).size();
      if (shapeOf(matmul.getLhs()).size() != rank ||
          (rank == 2 && (matmul.getTransposeLhs() || rhs != 2)))
        return false;
      if (rank == 2)
        return vanishesIn(matmul.getLhs(), depth);
    } else if (!op->hasTrait<IsElementWise>() && !isa<SoftmaxOp>(op)) {
      return false;
    }
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return vanishesIn(operand, depth);
    });
  }

  /// Size of dim 0 before the split, rank before the split, and sizes of the
  /// dims that replace dim 0.
  int64_t size;
  size_t rank;
  SmallVector<int64_t> parts;
};
} // namespace

/// If the reshape `op` divides dim 0 (is a split), moves it above the ops that
/// compute its operand, where it merges with another reshape or a constant.
/// Returns null if moving the split would require a new reshape.
static Value moveSplitUp(ReshapeOp op, PatternRewriter &rewriter) {
  auto split = Split::of(op);
  Operation *source = op.getInput().getDefiningOp();
  if (!split || !source || isa<ConstantOp, ReshapeOp>(source) ||
      !split->vanishesIn(op.getInput(), maxDepth))
    return {};
  return split->apply(op.getInput(), rewriter);
}

void pcc::prepare::addSplitSimplifications(RewritePatternSet &patterns) {
  addRewrites(patterns, moveSplitUp);
}
