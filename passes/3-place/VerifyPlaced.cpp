//===- VerifyPlaced.cpp - verification gate of phase 3-place --------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/3-place/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-placed"

namespace pcc::place {
#define GEN_PASS_DEF_VERIFYPLACED
#include "passes/3-place/Passes.h.inc"
} // namespace pcc::place

using namespace mlir;
using namespace pcc;

/// Checks that `transfer` sends a value from the stage that computes it. A
/// value of the forward pass must go to a later stage. Emits an error if not.
static LogicalResult checkTransfer(pipe::TransferOp transfer,
                                   const graph::StepParts &parts) {
  Operation *producer = transfer.getInput().getDefiningOp();
  if (!producer ||
      pipe::stageOf(producer) != static_cast<int64_t>(transfer.getFrom()))
    return transfer.emitOpError("sends from stage ")
           << transfer.getFrom() << " a value that is not computed there";
  const bool isBack = transfer.getFrom() > transfer.getTo();
  if (isBack && parts.of(producer) == graph::StepPart::Forward)
    return transfer.emitOpError("sends a value of the forward pass from stage ")
           << transfer.getFrom() << " back to stage " << transfer.getTo();
  return success();
}

/// Emits an error and fails if `op` has no pipeline stage, or if `op` reads the
/// result of an op on another stage. An op `pipe.transfer` may do so, because
/// it sends a value between stages. checkTransfer() checks this op.
static LogicalResult checkOp(Operation &op, const graph::StepParts &parts) {
  if (!op.getAttr(pipe::stageName))
    return op.emitOpError("has no '")
           << pipe::stageName << "'; every op has one after 3-place";
  if (auto transfer = dyn_cast<pipe::TransferOp>(op))
    return checkTransfer(transfer, parts);
  for (Value operand : op.getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && pipe::stageOf(producer) != pipe::stageOf(&op))
      return op.emitOpError("on stage ")
             << pipe::stageOf(&op) << " reads a value of stage "
             << pipe::stageOf(producer) << " without a transfer";
  return success();
}

namespace {
/// Compares values of different stages. Two values are equal if one is a copy
/// of the other, which pipe.transfer ops have sent to another stage. Two values
/// are also equal if equal ops compute them from equal operands.
class EqualValues {
public:
  bool operator()(Value one, Value other) {
    one = behindTransfers(one);
    other = behindTransfers(other);
    if (one == other)
      return true;
    if (auto entry = known.find({one, other}); entry != known.end())
      return entry->second;
    return known[{one, other}] = compare(one, other);
  }

private:
  static Value behindTransfers(Value value) {
    while (auto transfer = value.getDefiningOp<pipe::TransferOp>())
      value = transfer.getInput();
    return value;
  }

  bool compare(Value one, Value other) {
    auto left = dyn_cast<OpResult>(one), right = dyn_cast<OpResult>(other);
    return left && right && left.getResultNumber() == right.getResultNumber() &&
           compare(left.getOwner(), right.getOwner());
  }

  bool compare(Operation *one, Operation *other) {
    return one->getName() == other->getName() &&
           one->getResultTypes() == other->getResultTypes() &&
           one->getNumRegions() == 0 && other->getNumRegions() == 0 &&
           one->getPropertiesAsAttribute() ==
               other->getPropertiesAsAttribute() &&
           std::equal(
               one->operand_begin(), one->operand_end(), other->operand_begin(),
               other->operand_end(),
               [&](Value left, Value right) { return (*this)(left, right); });
  }

  /// Results of all comparisons so far, by the pair of values. Several ops can
  /// share an operand, and each pair of operands is compared only once.
  llvm::DenseMap<std::pair<Value, Value>, bool> known;
};
} // namespace

/// Checks two rules, and emits an error if one is broken. Each stage writes a
/// parameter at most once. Stages that write the same parameter write equal
/// values, because they hold copies of one weight. Does not check the second
/// rule if the values have shardings, since each stage stores the parameter in
/// its own sharding.
static LogicalResult checkWrites(func::FuncOp function) {
  llvm::StringMap<SmallVector<graph::SetParameterOp>> writes;
  EqualValues areEqual;
  for (auto set : function.getOps<graph::SetParameterOp>()) {
    auto &others = writes[set.getParameter()];
    for (graph::SetParameterOp other : others)
      if (pipe::stageOf(other) == pipe::stageOf(set))
        return set.emitOpError("writes parameter '")
               << set.getParameter() << "' a second time on stage "
               << pipe::stageOf(set);
    if (!others.empty() && !dist::shardingOf(set.getValue()) &&
        !areEqual(others.front().getValue(), set.getValue())) {
      InFlightDiagnostic error = set.emitOpError("writes another value to '")
                                 << set.getParameter() << "' on stage "
                                 << pipe::stageOf(set) << " than stage "
                                 << pipe::stageOf(others.front())
                                 << " does, but both hold this parameter";
      error.attachNote(others.front().getLoc()) << "the other write is here";
      return error;
    }
    others.push_back(set);
  }
  return success();
}

namespace {
/// Pass `--verify-placed`, which checks the pipeline stages of all ops of a
/// function. Each op must have a stage and read only values of its own stage.
/// The exception is the op `pipe.transfer`, which sends a value from one stage
/// to another. checkTransfer tests whether both stages are correct. Stages that
/// write the same parameter must write equal values. The pass changes nothing.
struct VerifyPlaced : pcc::place::impl::VerifyPlacedBase<VerifyPlaced> {
  void runOnOperation() override {
    const graph::StepParts parts(getOperation().front());
    for (Operation &op : getOperation().front().without_terminator())
      if (++numOps; failed(checkOp(op, parts)))
        return signalPassFailure();
    if (failed(checkWrites(getOperation())))
      return signalPassFailure();
    LDBG() << numOps.getValue() << " ops are placed";
    markAllAnalysesPreserved();
  }
};
} // namespace
