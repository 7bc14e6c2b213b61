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

/// Largest number of ops on a path that moveSplitUp() may change. moveSplitUp()
/// removes a reshape that splits dim 0 of a tensor, such as [8, 5] to
/// [2, 4, 5]. To do so, it changes the ops before the reshape. These ops then
/// compute [2, 4, 5] directly. A path begins at the op that computes the input
/// of the reshape. It continues with an op that computes an operand of this op,
/// and so on. For example, reshape(relu(add(x, y))) has a path of two ops, the
/// relu and the add. If moveSplitUp() would have to change more than 8 ops on a
/// path, then it changes nothing.
static constexpr int maxDepth = 8;

namespace {
/// Split of dim 0 of a tensor into several dims, performed by a reshape. For
/// example, a reshape changes the shape [8, 5] to [2, 4, 5]. The class changes
/// the ops before the reshape. These ops then compute a tensor of the shape
/// [2, 4, 5] directly, and the reshape is not needed. For example, the op
/// before the reshape is an add. The shape of each operand of the add changes
/// in one of these ways:
///
///   before    after
///   [8, 5]    [2, 4, 5]    the dim of size 8 becomes dims of sizes 2 and 4
///   [1, 5]    [1, 1, 5]    the add broadcasts the operand, as before
///   [5]       [5]          the operand has no dim of size 8
class Split {
public:
  /// Describes how the reshape `op` splits dim 0 of its input. Returns nullopt
  /// if `op` does more than this, or does not split dim 0:
  ///
  ///   reshape                  dim 0 is split
  ///   [8, 5] to [2, 4, 5]      yes, into sizes 2 and 4
  ///   [8, 5] to [2, 2, 2, 5]   yes, into sizes 2, 2 and 2
  ///   [2, 6] to [2, 2, 3]      no, because the reshape splits dim 1
  ///   [8, 5] to [40]           no, because the reshape merges dims
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

  /// Returns whether `value` can be computed with dim 0 split, such as
  /// [2, 4, 5] in place of [8, 5], without an additional reshape. A constant
  /// and the result of a reshape can take the new shape. A value with fewer
  /// dims than the input of the reshape, such as a bias [5], keeps its shape.
  /// Any other value must have only one use, and a clone of its op must be able
  /// to compute the new shape. The op must not be pinned: the user fixes the
  /// sharding of a pinned op. Clones of at most `depth` ops on a path are
  /// permitted. For relu(add(a, b)) and depth 1, this is the relu.
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

  /// Returns a tensor that has the elements of `value`, with dim 0 split. The
  /// ops that compute `value` are cloned for this. May only be called if
  /// vanishesIn() returns true for `value`. Example for a split of 8 into 2 and
  /// 4:
  ///
  ///   shape of `value`   shape of the result
  ///   [8, 5]             [2, 4, 5]
  ///   [1, 5]             [1, 1, 5], which can be broadcast to [2, 4, 5]
  ///   [5]                [5]
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // The clone of `op` must compute a result with a split dim 0, such as
    // [2, 4, 5] in place of [8, 5]. The loop computes the operands of the
    // clone. There are two cases:
    //
    //  - `op` is a product of two matrices, such as [8, 3] · [3, 5] = [8, 5].
    //    Only the left operand has the dim of size 8. The loop changes only
    //    this operand. The clone then computes [2, 4, 3] · [3, 5] = [2, 4, 5].
    //  - `op` is any other op, such as an add of [8, 5] and a bias [5]. The
    //    loop calls apply() for each operand. In this example, apply() changes
    //    [8, 5] to [2, 4, 5] and returns the bias unchanged.
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

  /// Returns whether `value` keeps its shape when the class Split removes a
  /// reshape. This is the case if `value` has fewer dims than the input of the
  /// reshape. For example, the reshape changes the shape [8, 5] to [2, 4, 5].
  /// The class replaces the add before the reshape by a new add:
  ///
  ///   before   [8, 5] + [5] = [8, 5] -reshape-> [2, 4, 5]
  ///   after    [2, 4, 5] + [5] = [2, 4, 5]
  ///
  /// The operand [5] of the add has one dim, and the input [8, 5] of the
  /// reshape has two dims. Therefore the operand [5] keeps its shape.
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
  /// split, such as [2, 4, 5] in place of [8, 5]. `op` must be element-wise, a
  /// softmax along another dim than dim 0, a product of two matrices whose left
  /// operand is not transposed, or a matmul for which dim 0 is a batch dim. In
  /// addition, vanishesIn() must return true for all operands and for `depth`.
  /// For a product of two matrices, only the left operand must meet this
  /// condition, because the right operand keeps its shape.
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // A reshape splits dim 0 of a tensor that has `rank` dims. An example
      // with a `rank` of 2 is a reshape of [8, 5] to [2, 4, 5]. A clone of the
      // matmul must compute the new shape. There are two cases:
      //
      //  - `rank` is 2. The matmul must be a product of two matrices, such as
      //    [8, 3] · [3, 5] = [8, 5]. The clone computes [2, 4, 3] · [3, 5] =
      //    [2, 4, 5]. The left operand must not be transposed. A transposed
      //    left operand has the shape [3, 8], and its dim 0 is not the dim of
      //    size 8.
      //  - `rank` is larger than 2. Dim 0 of the result is a batch dim. For
      //    example, the clone of [8, 2, 3] · [8, 3, 5] computes [2, 4, 2, 3] ·
      //    [2, 4, 3, 5].
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

/// Removes the reshape `op` if it splits dim 0 of a tensor, such as [8, 5] to
/// [2, 4, 5]. Returns the tensor that clones of the ops before the reshape
/// compute. Example, in which both reshapes vanish:
///
///   before  [2, 4, 5] -reshape-> [8, 5] -relu-> [8, 5] -reshape-> [2, 4, 5]
///   after   [2, 4, 5] -relu-> [2, 4, 5]
///
/// Returns null if `op` does not split dim 0, or if the rewrite needs a new
/// reshape, as it would if the relu read a model input of shape [8, 5].
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
