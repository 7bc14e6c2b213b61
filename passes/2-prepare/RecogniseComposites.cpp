//===- RecogniseComposites.cpp - matching of norms, attention and others --===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/Pins.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "recognise-composites"

namespace pcc::prepare {
#define GEN_PASS_DEF_RECOGNISECOMPOSITES
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

/// Counts the ops in `function` of the kinds that this pass creates, such as
/// softmax and attention.
static int64_t countComposites(func::FuncOp function) {
  return llvm::count_if(function.front(), [](Operation &op) {
    return op.hasTrait<graph::IsComposite>() || op.hasAttr(graph::chosenName);
  });
}

/// Calls all functions in `composites`, and returns one pattern set with all
/// rewrite patterns that the functions add. A function in `composites`, such as
/// addGeluPatterns, adds the patterns that create one kind of composite op. A
/// composite op, such as gelu, replaces a group of simple ops.
static FrozenRewritePatternSet
freeze(MLIRContext *context,
       ArrayRef<void (*)(RewritePatternSet &)> composites) {
  RewritePatternSet patterns(context);
  for (auto add : composites)
    add(patterns);
  return std::move(patterns);
}

namespace {
/// Pass `--recognise-composites`: replaces groups of simple ops by composite
/// ops, such as attention.
struct RecogniseComposites
    : pcc::prepare::impl::RecogniseCompositesBase<RecogniseComposites> {
  LogicalResult initialize(MLIRContext *context) override {
    parts = freeze(context, {addGeluPatterns, addNormPatterns,
                             addSoftmaxPatterns, addRotaryPatterns});
    last = freeze(context,
                  {addAttentionPatterns, addCausalPatterns, addExpertPatterns});
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Pins pins(function);
    int64_t before = countComposites(function);
    // The patterns for attention match softmax ops, so they run after the
    // patterns that create softmax ops.
    for (const FrozenRewritePatternSet &patterns : {parts, last})
      if (failed(applyPatternsGreedily(
              function, patterns,
              GreedyRewriteConfig().enableFolding(false).setMaxIterations(
                  GreedyRewriteConfig::kNoLimit))))
        return signalPassFailure();
    numRecognised += std::max<int64_t>(0, countComposites(function) - before);
    LDBG() << before << " composites became " << countComposites(function);
  }

  /// Patterns that the pass applies first (`parts`) and afterwards (`last`).
  /// The patterns in `last` match ops that the patterns in `parts` create.
  FrozenRewritePatternSet parts, last;
};
} // namespace
