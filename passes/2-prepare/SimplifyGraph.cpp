//===- SimplifyGraph.cpp - folding, simplification and merging of ops -----===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/Pins.h"
#include "passes/2-prepare/simplify/CommonSubexpressions.h"
#include "passes/2-prepare/simplify/Simplifications.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "simplify-graph"

namespace pcc::prepare {
#define GEN_PASS_DEF_SIMPLIFYGRAPH
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc::prepare;

/// Returns the number of ops in the body of `function`.
static int64_t countOps(func::FuncOp function) {
  return static_cast<int64_t>(function.front().getOperations().size());
}

namespace {
/// Pass `--simplify-graph`: folds and simplifies ops, and merges equal ops.
struct SimplifyGraph : pcc::prepare::impl::SimplifyGraphBase<SimplifyGraph> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    addFoldPatterns(set);
    addElementWiseSimplifications(set);
    addLayoutSimplifications(set);
    addSplitSimplifications(set);
    addIndexingSimplifications(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Pins pins(function);
    int64_t before = countOps(function), merged = 0;
    // The loop repeats two steps. The first step applies the patterns, which
    // fold and simplify ops. The second step merges equal ops. A merge can make
    // two operands of an op the same value. Another pattern can then match, for
    // example a pattern that needs two equal operands. The loop ends when the
    // second step merges no ops.
    do {
      if (failed(applyPatternsGreedily(
              function, patterns,
              GreedyRewriteConfig().enableFolding(false).setMaxIterations(
                  GreedyRewriteConfig::kNoLimit))))
        return signalPassFailure();
      numMerged += merged = eliminateCommonSubexpressions(function.front());
    } while (merged);
    numRemoved += before - countOps(function);
    LDBG() << before << " ops became " << countOps(function);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
