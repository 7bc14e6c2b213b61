//===- SimplifyFolds.cpp - constant folding -------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns whether `op` casts a float type to a narrower float type.
static bool isNarrowing(CastOp op) {
  auto from = dyn_cast<FloatType>(elementTypeOf(op.getInput()));
  auto to = dyn_cast<FloatType>(elementTypeOf(op));
  return from && to && to.getWidth() < from.getWidth();
}

bool pcc::prepare::isFoldWanted(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      op->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (auto cast = dyn_cast<CastOp>(op); cast && isNarrowing(cast))
    return false;
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return broadcast.getType().getRank() <= 1 ||
           broadcast.getType().getNumElements() <=
               tensorType(broadcast.getInput()).getNumElements();
  return true;
}

namespace {
/// Pattern that replaces an op by its folded result, a constant or another
/// value. The pattern keeps the name and the pin of the op, as described at
/// replaceNamed(). A pin is a sharding that the user has fixed. MLIR's greedy
/// driver can fold ops, too, but it ignores names and pins. The pattern has a
/// higher benefit than other patterns, so that the driver tries it first.
struct Fold : RewritePattern {
  explicit Fold(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> results;
    if (!isFoldWanted(op) || failed(rewriter.tryFold(op, results)) ||
        results.empty())
      return failure();
    if (results.size() == 1)
      return replaceNamed(op, results.front(), rewriter);
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void pcc::prepare::addFoldPatterns(RewritePatternSet &patterns) {
  patterns.add<Fold>(patterns.getContext());
}

LogicalResult pcc::prepare::foldAll(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  addFoldPatterns(patterns);
  return applyPatternsGreedily(
      function, std::move(patterns),
      GreedyRewriteConfig().enableFolding(false).setMaxIterations(
          GreedyRewriteConfig::kNoLimit));
}
