//===- VerifyLocal.cpp - gate of phase 5-localize -------------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "passes/5-localize/CollectiveCheck.h"
#include "passes/5-localize/DimCheck.h"
#include "passes/5-localize/PartialCheck.h"
#include "passes/5-localize/Passes.h"
#include "passes/5-localize/SignatureCheck.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-local"

namespace pcc::localize {
#define GEN_PASS_DEF_VERIFYLOCAL
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;

/// Checks that `op`, which reads a weight, has the type of one rank's shard of
/// the weight. Emits an error if not, or if the weight or the sharding is
/// missing.
static LogicalResult checkParameter(graph::GetParameterOp op,
                                    const SymbolTable &parameters) {
  auto parameter = parameters.lookup<graph::ParameterOp>(op.getParameter());
  dist::ShardingAttr sharding = dist::shardingOf(op.getResult());
  if (!parameter || !sharding)
    return op.emitOpError("reads a weight without a sharding");
  if (!sharding.getSharding().partials.empty())
    return op.emitOpError("reads a weight as a partial value, but ranks store "
                          "elements of the weight itself");
  auto local = dist::localType(cast<RankedTensorType>(parameter.getType()),
                               sharding.getSharding());
  if (local != op.getType())
    return op.emitOpError("has type ")
           << op.getType() << ", but its shard is " << local;
  return success();
}

/// Checks that values which are written to parameters have a sharding, by which
/// later phases find the shard that a rank stores. Emits an error if not.
static LogicalResult checkWrites(func::FuncOp function) {
  for (auto set : function.getOps<graph::SetParameterOp>())
    if (!dist::shardingOf(set.getValue()))
      return set.emitOpError("writes a value that has no sharding");
  return success();
}

namespace {
struct VerifyLocal : pcc::localize::impl::VerifyLocalBase<VerifyLocal> {
  void runOnOperation() override {
    const SymbolTable parameters(getOperation()->getParentOfType<ModuleOp>());
    for (Operation &op : getOperation().front()) {
      ++numOps;
      auto parameter = dyn_cast<graph::GetParameterOp>(op);
      if (isa<dist::ReshardOp>(op))
        op.emitOpError("remains after 5-localize; it has to be a "
                       "'dist.collective'");
      else if (!parameter || succeeded(checkParameter(parameter, parameters)))
        continue;
      return signalPassFailure();
    }
    if (failed(localize::checkSignature(getOperation())) ||
        failed(localize::checkCollectives(getOperation())) ||
        failed(localize::checkDims(getOperation())))
      return signalPassFailure();
    if (failed(checkWrites(getOperation())) ||
        failed(localize::checkPartials(getOperation())))
      return signalPassFailure();
    LDBG() << numOps.getValue() << " ops are local";
    markAllAnalysesPreserved();
  }
};
} // namespace
