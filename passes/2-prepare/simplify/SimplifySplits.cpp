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

/// Largest number of ops that moveSplitUp() may clone on one path upward from
/// the reshape.
static constexpr int maxDepth = 8;

namespace {
/// Split of dim 0 of a tensor into several dims by a reshape, such as [8, 5] to
/// [2, 4, 5]. The class clones the ops before the reshape so that they compute
/// the split shape directly. An operand [8, 5] of these ops becomes [2, 4, 5],
/// an operand [1, 5] becomes [1, 1, 5], and an operand [5] stays.
class Split {
public:
  /// Describes how the reshape `op` splits dim 0 of its input, such as [8, 5]
  /// to [2, 2, 2, 5]. Returns nullopt if `op` does not split dim 0, or if it
  /// also changes other dims.
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

  /// Returns whether `value` can be computed with dim 0 split, without an
  /// additional reshape. Constants and results of reshapes take the new shape.
  /// Values of lower rank keep their shape. Any other value must have only one
  /// use, and the op that computes it must be one that can be cloned. At most
  /// `depth` ops on a path are cloned.
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

  /// Returns a tensor with the elements of `value` and with dim 0 split. Clones
  /// the ops that compute `value`. vanishesIn() must return true for `value`.
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // In a product of two matrices, such as [8, 3] · [3, 5], only the left
    // operand has the dim of size 8, so only this operand is split. The clone
    // computes [2, 4, 3] · [3, 5]. For all other ops, call apply() for each
    // operand.
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
  /// Returns the number of dims that a reshape adds when it splits dim 0. For
  /// example, a reshape from [8, 5] to [2, 4, 5] replaces one dim by two dims,
  /// so it adds 1 dim.
  int64_t numAdded() const { return static_cast<int64_t>(parts.size()) - 1; }

  /// Returns whether `value` keeps its shape, because it has fewer dims than
  /// the input of the reshape. An example is a bias [5] for an input [8, 5].
  bool isUntouched(Value value) const { return shapeOf(value).size() < rank; }

  /// Returns the shape of `value` after its dim 0 is split. The member `parts`
  /// contains the sizes of the new dims. For example, `parts` is [2, 4]:
  ///
  ///   shape of `value`   result
  ///   [8, 5]             [2, 4, 5]
  ///   [1, 5]             [1, 1, 5], which can be broadcast to [2, 4, 5]
  SmallVector<int64_t> splitShape(Value value) const {
    auto shape = shapeOf(value);
    SmallVector<int64_t> result(parts);
    if (shape[0] == 1)
      result.assign(parts.size(), 1);
    llvm::append_range(result, shape.drop_front());
    return result;
  }

  /// Returns whether a clone of `op` can compute the result of `op` with dim 0
  /// split. `op` must be element-wise, a softmax along another dim, or a
  /// matmul. Dim 0 of the operands must also be split. Returns false if
  /// vanishesIn() with the limit `depth` is false for an operand. In a product
  /// of two matrices, only the left operand matters.
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // For `rank` 2, the matmul must be a product of two matrices, such as [8,
      // 3] · [3, 5]. Its left operand must not be transposed: dim 0 of [3, 8]
      // is not the dim of size 8. For a larger `rank`, dim 0 is a batch dim.
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

  /// Size of dim 0 of a tensor before a reshape splits this dim. For example,
  /// the size is 8 for a reshape from [8, 5] to [2, 4, 5].
  int64_t size;
  /// Rank of a tensor before a reshape splits its dim 0. For example, the rank
  /// is 2 for a reshape from [8, 5] to [2, 4, 5], because [8, 5] has two dims.
  size_t rank;
  /// Sizes of the dims into which a reshape splits dim 0 of its input. For
  /// example, a reshape from [8, 5] to [2, 4, 5] splits the dim of size 8 into
  /// two dims. Then `parts` is [2, 4].
  SmallVector<int64_t> parts;
};
} // namespace

/// Removes the reshape `op` if it splits dim 0, as in [2, 4, 5] -reshape-> [8,
/// 5] -relu-> [8, 5] -reshape-> [2, 4, 5]. Both reshapes vanish in this
/// example. Returns null if `op` does not split dim 0, or if the rewrite would
/// need a new reshape.
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
