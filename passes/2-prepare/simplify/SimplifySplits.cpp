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

/// Largest number of ops in a chain through which moveSplitUp moves a reshape.
static constexpr int maxDepth = 8;

namespace {
/// A split is a reshape that divides dim 0 of a tensor, such as [8, 5] to
/// [2, 4, 5]. The class moves the split to the operands of earlier ops. An
/// operand gets one of these shapes:
///
///   operand   with the split
///   [8, 5]    [2, 4, 5]
///   [1, 5]    [1, 1, 5]    an op broadcasts the operand along dim 0
///   [5]       [5]          the operand has no dim 0 to divide
class Split {
public:
  /// Returns the split (division of dim 0) that the reshape `op` performs.
  /// Returns nullopt for other reshapes.
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

  /// Returns whether `value` can be computed with dim 0 already divided, such
  /// as [2, 4, 5] in place of [8, 5]. No reshape may be added. The function
  /// follows the ops that compute `value`, at most `depth` in a chain. Each
  /// chain must end at one of these values:
  ///
  ///   - the result of a reshape or constant, which can get the new shape
  ///   - a value without dim 0, such as a bias [5]
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

  /// Creates the ops that compute `value` with dim 0 already divided, and
  /// returns the result. vanishesIn(value) must be true: the ops need no new
  /// reshape.
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // The reshape that moves up divides dim 0 of the result. In a product of
    // two matrices, only the left operand has this dim.
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
  /// Returns how many dims the split adds: 1 for [32, 5] to [8, 4, 5].
  int64_t numAdded() const { return static_cast<int64_t>(parts.size()) - 1; }

  /// Returns whether `value` has no dim 0 that the split divides. An example is
  /// a bias [5] that is added to [8, 5].
  bool isUntouched(Value value) const { return shapeOf(value).size() < rank; }

  /// Returns the shape of `value` with dim 0 divided: [2, 4, 5] for [8, 5], and
  /// [1, 1, 5] for [1, 5].
  SmallVector<int64_t> splitShape(Value value) const {
    auto shape = shapeOf(value);
    SmallVector<int64_t> result(parts);
    if (shape[0] == 1)
      result.assign(parts.size(), 1);
    llvm::append_range(result, shape.drop_front());
    return result;
  }

  /// Returns whether `op` can compute its result with dim 0 already divided.
  /// The function checks two conditions:
  ///
  ///   - `op` accepts operands with divided dim 0
  ///   - each operand can be computed with divided dim 0 and without a new
  ///     reshape (vanishesIn), through at most `depth` ops in a chain
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // The reshape that moves up divides dim 0 of the matmul's result. If both
      // operands are matrices, this dim holds the rows of the left operand.
      // Otherwise it is a batch dim.
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

  /// Size of dim 0 before the split, such as 8 for [8, 5] to [2, 4, 5].
  int64_t size;
  /// Rank before the split, such as 2 for [8, 5] to [2, 4, 5].
  size_t rank;
  /// Sizes of the dims that replace dim 0, such as [2, 4] for [8, 5] to
  /// [2, 4, 5].
  SmallVector<int64_t> parts;
};
} // namespace

/// Removes a reshape that divides dim 0 of a value. Computes the value with dim
/// 0 already divided, from an earlier reshape or a constant:
///
///   [2, 4, 5] -reshape-> [8, 5] -relu-> [8, 5] -reshape-> [2, 4, 5]
///   [2, 4, 5] -relu-> [2, 4, 5]
///
/// Returns null for other reshapes, and if this would add a reshape.
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
