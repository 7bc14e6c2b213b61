//===- SimplifySplits.cpp - dims that are merged and split again ----------===//
//
// Exporters flatten dims around a product and split them behind it:
//
//   x [B, S, K] → [B·S, K];  y = x · w + b;  y [B·S, N] → [B, S, N]
//
// The split moves up through the ops between, where it meets the merge and both
// vanish: y = x · w + b on [B, S, …]. It moves only if it meets a reshape or a
// constant on every way.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// How many ops a split moves up.
static constexpr int maxDepth = 8;

namespace {
/// Dim 0, of `size`, becomes the dims `parts`.
class Split {
public:
  /// The split that `op` is; none if it does more or something else.
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

  /// Whether `value` can be given in split form without one more reshape.
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

  /// `value` in split form; makes the ops that it takes.
  Value apply(Value value, PatternRewriter &rewriter) const {
    if (isUntouched(value))
      return value;
    auto type = tensorType(value).clone(splitShape(value));
    if (definedBy<ReshapeOp>(value) || definedBy<ConstantOp>(value))
      return rewriter.createOrFold<ReshapeOp>(value.getLoc(), type, value);
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands(op->getOperands());
    // The second matrix of a plain product has no dim that is split.
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
  int64_t numAdded() const { return static_cast<int64_t>(parts.size()) - 1; }

  /// Operands of lower rank have no dim that is split.
  bool isUntouched(Value value) const { return shapeOf(value).size() < rank; }

  SmallVector<int64_t> splitShape(Value value) const {
    auto shape = shapeOf(value);
    SmallVector<int64_t> result(parts);
    if (shape[0] == 1)
      result.assign(parts.size(), 1);
    llvm::append_range(result, shape.drop_front());
    return result;
  }

  /// Whether `op` does the same on split operands, and they need no reshape.
  bool movesUp(Operation *op, int depth) const {
    if (auto softmax = dyn_cast<SoftmaxOp>(op);
        softmax && softmax.getDim() == 0)
      return false;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      // Dim 0 must be a batch dim of both or the rows of the first one.
      size_t rhs = shapeOf(matmul.getRhs()).size();
      if (shapeOf(matmul.getLhs()).size() != rank ||
          (rank == 2 && (matmul.getTransposeLhs() || rhs != 2)))
        return false;
      if (rank == 2)
        return vanishesIn(matmul.getLhs(), depth);
    } else if (!isElementWise(op) && !isa<SoftmaxOp>(op)) {
      return false;
    }
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return vanishesIn(operand, depth);
    });
  }

  int64_t size;
  size_t rank;
  SmallVector<int64_t> parts;
};
} // namespace

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
