//===- SimplifyFolds.cpp - constant folding -------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns whether `op` casts a float type to a float type that cannot
/// represent all its numbers. Examples: f32 to bf16, f16 to bf16 (fewer digits)
/// and bf16 to f16 (a smaller range).
static bool isNarrowing(CastOp op) {
  auto from = dyn_cast<FloatType>(elementTypeOf(op.getInput()));
  auto to = dyn_cast<FloatType>(elementTypeOf(op));
  return from && to &&
         !APFloat::isRepresentableBy(from.getFloatSemantics(),
                                     to.getFloatSemantics());
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
/// Pattern that folds ops. To fold an op means to replace its result by a
/// constant or by another value that exists already. The function
/// isFoldWanted() decides whether an op may be folded.
///
/// An op can have a name, which is its attribute `graph.name`. It can also have
/// the attribute `graph.pinned`, which says that the user fixes the sharding of
/// the op. If the op has one result, the pattern calls the function
/// replaceNamed() to replace the op. In most cases, replaceNamed() copies both
/// attributes to the op that defines the new value. The comment of
/// replaceNamed() lists the exceptions.
///
/// MLIR's greedy rewrite driver can fold ops, too, but does not call
/// replaceNamed(). Therefore the passes that use the pattern turn the driver's
/// folding off. The benefit of the pattern is 10. The other patterns have the
/// benefit 1, so the driver tries this pattern first.
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
