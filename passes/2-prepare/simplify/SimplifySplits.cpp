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

/// Largest number of ops on a path that moveSplitUp() changes. moveSplitUp()
/// removes a reshape. Before that, it changes the ops that compute the input of
/// the reshape. A path begins at the reshape and goes from each op to one of
/// its operands. The path ends at a constant, at another reshape or at an
/// operand that keeps its shape. If a path has more than 8 ops, moveSplitUp()
/// changes nothing.
static constexpr int maxDepth = 8;

namespace {
/// Division of dim 0 of a tensor by a reshape, such as [8, 5] to [2, 4, 5]. The
/// reshape is not needed if the ops before it compute the divided tensor
/// directly. The class rewrites these ops. Operands of the rewritten ops get
/// other shapes:
///
///   before    after
///   [8, 5]    [2, 4, 5]    dim 0 is divided into sizes 2 and 4
///   [1, 5]    [1, 1, 5]    the op still broadcasts the operand
///   [5]       [5]          the operand lacks the dim of size 8
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

  /// Returns whether the ops that compute `value` can compute it with a divided
  /// dim 0, such as [2, 4, 5] in place of [8, 5]. The operands of these ops
  /// must then have a divided dim 0, too. The function follows the operands
  /// backward, along each path. Each path must end at one of these values:
  ///
  ///   - the result of a reshape, which can produce the divided shape directly
  ///   - a constant, which can be stored in the divided shape
  ///   - a value without the divided dim, such as a bias [5], which keeps its
  ///     shape
  ///
  /// Returns false if a path ends at another value, such as an input of the
  /// model, or has more than `depth` ops. Each op on a path must have exactly
  /// one use, and must not have a sharding that the user fixes. movesUp()
  /// checks whether the op can compute the divided shape.
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

  /// Computes `value` with a divided dim 0, such as [2, 4, 5] in place of
  /// [8, 5]. The function clones the ops that compute `value`, and returns the
  /// divided value. A value without the divided dim, such as a bias [5], is
  /// returned as it is. The function may only be called if vanishesIn() returns
  /// true for `value`.
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // The clone of `op` computes a result with a divided dim 0. For most ops,
    // dim 0 of each operand is divided, too. For example, the clone of an add
    // computes [2, 4, 5] in place of [8, 5], so its operands are [2, 4, 5] in
    // place of [8, 5]. An operand without the dim of size 8, such as a bias
    // [5], keeps its shape. A product of two matrices is an exception, such as
    // [8, 3] · [3, 5] = [8, 5]. Only the left operand has the dim of size 8.
    // The clone computes [2, 4, 3] · [3, 5] = [2, 4, 5].
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

  /// Returns whether `value` has fewer dims than the tensor that the split
  /// divides. For example, the split divides [8, 5] to [2, 4, 5], and `value`
  /// is a bias [5]. The bias has no dim of size 8, so it keeps its shape.
  bool isUntouched(Value value) const { return shapeOf(value).size() < rank; }

  /// Returns the shape of `value` after the division of dim 0. For example, the
  /// split divides size 8 into sizes 2 and 4. Then [8, 5] becomes [2, 4, 5].
  /// The shape [1, 5] becomes [1, 1, 5], so that it still broadcasts to
  /// [2, 4, 5].
  SmallVector<int64_t> splitShape(Value value) const {
    auto shape = shapeOf(value);
    SmallVector<int64_t> result(parts);
    if (shape[0] == 1)
      result.assign(parts.size(), 1);
    llvm::append_range(result, shape.drop_front());
    return result;
  }

  /// Returns whether `op` can compute its result with a divided dim 0, such as
  /// [2, 4, 5] in place of [8, 5]. `op` must be one of these ops:
  ///
  ///   - an element-wise op
  ///   - a softmax along a dim other than dim 0
  ///   - a product of two matrices, such as [8, 3] · [3, 5], if the left
  ///     operand is not transposed
  ///   - a matmul for which dim 0 is a batch dim, such as [8, 2, 3] · [8, 3, 5]
  ///
  /// The ops before `op` must compute the operands with a divided dim 0, too.
  /// The function calls vanishesIn(operand, depth) to find out whether they
  /// can. In this call, `depth` is the largest number of ops that may follow
  /// each other on the way back. The right operand of a product of two matrices
  /// is not divided.
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // `rank` is the number of dims before the division, such as 2 for [8, 5]
      // to [2, 4, 5]. There are two cases:
      //
      //  - `rank` is 2. The matmul must be a product of two matrices, such as
      //    [8, 3] · [3, 5] = [8, 5]. After the division, it is [2, 4, 3] ·
      //    [3, 5] = [2, 4, 5]. The left operand must not be transposed: a
      //    transposed left operand has the shape [3, 8], and its dim 0 is not
      //    the dim of size 8.
      //  - `rank` is larger. Dim 0 of the result is a batch dim. The matmul
      //    [8, 2, 3] · [8, 3, 5] becomes [2, 4, 2, 3] · [2, 4, 3, 5].
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

/// Removes a reshape that divides dim 0 of a tensor. The ops before the reshape
/// compute the divided tensor instead. In this example, an earlier reshape has
/// merged the two dims, and both reshapes vanish:
///
///   before  [2, 4, 5] -reshape-> [8, 5] -relu-> [8, 5] -reshape-> [2, 4, 5]
///   after   [2, 4, 5] -relu-> [2, 4, 5]
///
/// Returns null for other reshapes. Also returns null if an operand could get
/// the divided shape only by a new reshape. For example, the relu could read an
/// input of the model with the shape [8, 5] directly. This input would need a
/// new reshape to [2, 4, 5].
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
