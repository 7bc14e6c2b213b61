//===- VerifyPlaced.cpp - the gate of phase 3-place -----------------------===//

#include "passes/3-place/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-placed"

namespace pcc::place {
#define GEN_PASS_DEF_VERIFYPLACED
#include "passes/3-place/Passes.h.inc"
} // namespace pcc::place

using namespace mlir;
using namespace pcc;

static LogicalResult checkTransfer(pipe::TransferOp transfer,
                                   int64_t numStages) {
  Operation *producer = transfer.getInput().getDefiningOp();
  if (!producer ||
      pipe::stageOf(producer) != static_cast<int64_t>(transfer.getFrom()))
    return transfer.emitOpError("sends from stage ")
           << transfer.getFrom() << " what was not made there";
  if (transfer.getFrom() > transfer.getTo() ||
      static_cast<int64_t>(transfer.getTo()) >= numStages)
    return transfer.emitOpError("goes from stage ")
           << transfer.getFrom() << " to " << transfer.getTo() << " of "
           << numStages;
  return success();
}

static LogicalResult checkOp(Operation &op, int64_t numStages) {
  if (!op.getAttr(pipe::stageName))
    return op.emitOpError(
        "has no stage after phase '3-place'; cut-stages must give it one");
  if (auto transfer = dyn_cast<pipe::TransferOp>(op))
    return checkTransfer(transfer, numStages);
  for (Value operand : op.getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && pipe::stageOf(producer) != pipe::stageOf(&op))
      return op.emitOpError("on stage ")
             << pipe::stageOf(&op) << " reads a value of stage "
             << pipe::stageOf(producer) << " without a transfer";
  return success();
}

namespace {
struct VerifyPlaced : pcc::place::impl::VerifyPlacedBase<VerifyPlaced> {
  void runOnOperation() override {
    auto stages =
        getOperation()->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(
            "pipe.stages");
    for (Operation &op : getOperation().front().without_terminator())
      if (++numOps; failed(checkOp(op, stages ? stages.getInt() : 1)))
        return signalPassFailure();
    LDBG() << numOps.getValue() << " ops are placed";
    markAllAnalysesPreserved();
  }
};
} // namespace
