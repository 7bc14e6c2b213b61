//===- CollectiveCheck.cpp - check of collectives against shardings -------===//

#include "passes/5-localize/CollectiveCheck.h"
#include "dialects/dist/BriefText.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/plan/reshard/SingleStep.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc;
using dist::CollectiveKind;

/// Checks that `op` has the kind of `step`, the only step between its
/// shardings. An exchange may stand for any movement, since its ranks send each
/// other whatever is missing.
static LogicalResult checkKind(dist::CollectiveOp op,
                               const plan::ReshardStep &step) {
  const bool moves = dist::communicates(step.kind) && !dist::reduces(step.kind);
  if (op.getKind() == step.kind ||
      (op.getKind() == CollectiveKind::Exchange && moves))
    return success();
  return op.emitOpError("is of kind ")
         << dist::toString(op.getKind()) << ", but "
         << dist::briefText(op.getFrom(), op) << " to "
         << dist::briefText(op.getTo(), op) << " takes "
         << dist::toString(step.kind);
}

/// Checks the number of bytes that `op` says a rank receives. With masks of
/// rows, the number is smaller than that of `step`, which moves all rows.
static LogicalResult checkBytes(dist::CollectiveOp op,
                                const plan::ReshardStep &step) {
  const auto bytes = static_cast<int64_t>(op.getReceivedBytes());
  const bool fits = op.getRows().empty()
                        ? bytes == step.receivedBytes
                        : bytes >= 0 && bytes <= step.receivedBytes;
  return fits ? success()
              : op.emitOpError("says 'received ")
                    << bytes << "', but a rank receives "
                    << counted(step.receivedBytes, "byte");
}

/// Checks that the operand of `op` has the sharding `from`, if it has one.
static LogicalResult checkOperand(dist::CollectiveOp op) {
  auto actual = dist::shardingOf(op.getInput());
  if (!actual || plan::placementOnRanks(actual.getSharding()) ==
                     plan::placementOnRanks(op.getFrom().getSharding()))
    return success();
  return op.emitOpError("starts from ")
         << dist::briefText(op.getFrom(), op) << ", but its operand is "
         << dist::briefText(actual, op);
}

static LogicalResult checkCollective(dist::CollectiveOp op,
                                     const dist::Mesh &mesh) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto step = plan::singleStep(
      op.getFrom().getSharding(), op.getTo().getSharding(),
      dist::shapeOf(op.getShape()), graph::elementBytes(type), mesh);
  if (!step)
    return op.emitOpError("goes from ")
           << dist::briefText(op.getFrom(), op) << " to "
           << dist::briefText(op.getTo(), op) << ", but "
           << step.status().message();
  return success(succeeded(checkOperand(op)) &&
                 succeeded(checkKind(op, *step)) &&
                 succeeded(checkBytes(op, *step)));
}

LogicalResult pcc::localize::checkCollectives(func::FuncOp function) {
  const dist::Mesh mesh = dist::meshOf(function->getParentOfType<ModuleOp>());
  for (auto op : function.getOps<dist::CollectiveOp>())
    if (failed(checkCollective(op, mesh)))
      return failure();
  return success();
}
