//===- SimplifyFolds.cpp - constant folding -------------------------------===//

#include "dialects/graph/FloatCasts.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns whether `op` casts a float type to another float type that cannot
/// represent all numbers of the first type. Examples: f32 to bf16, f16 to bf16
/// (fewer digits) and bf16 to f16 (a smaller range).
static bool isNarrowing(CastOp op) {
  auto from = dyn_cast<FloatType>(elementTypeOf(op.getInput()));
  auto to = dyn_cast<FloatType>(elementTypeOf(op));
  return from && to && !representsAll(to, from);
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
/// Pattern that folds each op for which isFoldWanted() returns true.
/// replaceNamed() keeps the attributes `graph.name` and `graph.pinned`. The
/// folding of MLIR's greedy driver itself loses these attributes, so passes
/// must turn it off. The benefit 10 makes the driver try this pattern before
/// the others.
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
