//===- VerifyPrepared.cpp - verification gate of phase 2-prepare ----------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"
#include "status/Counted.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-prepared"

namespace pcc::prepare {
#define GEN_PASS_DEF_VERIFYPREPARED
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

/// Emits an error if all operands of `op` are constants and MLIR can still fold
/// `op`. The pass simplify-graph must fold such an op. Accepts ops without
/// operands, and ops for which isFoldWanted() returns false.
static LogicalResult checkOp(Operation *op) {
  if (op->getNumOperands() == 0 || !isFoldWanted(op))
    return success();
  SmallVector<Attribute> operands(op->getNumOperands());
  for (auto [value, attribute] : llvm::zip_equal(op->getOperands(), operands))
    if (!matchPattern(value, m_Constant(&attribute)))
      return success();
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)))
    return success();
  return op->emitOpError(
      "has only constants as operands; after 2-prepare it has to be folded "
      "into a 'graph.constant'");
}

/// Checks the batch dims that the pass mark-batch has found in the inputs. All
/// must have the same size, and the number of microbatches must divide this
/// size. Emits an error if not.
static LogicalResult checkBatch(ModuleOp module, func::FuncOp function) {
  auto count = module->getAttrOfType<IntegerAttr>(pipe::microbatchesName);
  std::optional<int64_t> batch;
  for (BlockArgument argument : function.getArguments()) {
    auto mark = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                       graph::batchDimName);
    if (!mark)
      continue;
    auto shape = shapeOf(argument);
    int64_t dim = mark.getInt();
    if (batch.value_or(shape[dim]) != shape[dim])
      return function.emitError("has inputs with batches of ")
             << *batch << " and " << shape[dim] << " samples";
    batch = shape[dim];
  }
  if (!count || count.getInt() == 1 || (batch && *batch % count.getInt() == 0))
    return success();
  return function.emitError("has a batch of ")
         << counted(batch.value_or(0), "sample")
         << ", which does not divide into "
         << counted(count.getInt(), "microbatch");
}

namespace {
/// Pass `--verify-prepared`: checks, at the end of phase 2-prepare, the
/// properties on which later phases rely. Changes nothing.
struct VerifyPrepared : pcc::prepare::impl::VerifyPreparedBase<VerifyPrepared> {
  /// Checks all functions of the module. Calls checkOp() for each op of a
  /// function except the terminator. Then calls checkBatch() for the function,
  /// which checks the sizes of the batch dims of the function's inputs. A batch
  /// dim counts the samples of the batch. Returns failure after the first
  /// error.
  LogicalResult check() {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (Operation &op : function.front().without_terminator())
        if (++numOps; failed(checkOp(&op)))
          return failure();
      if (failed(checkBatch(getOperation(), function)))
        return failure();
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(check()))
      return signalPassFailure();
    LDBG() << numOps.getValue() << " ops are prepared";
    markAllAnalysesPreserved();
  }
};
} // namespace
