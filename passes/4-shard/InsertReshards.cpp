//===- InsertReshards.cpp - make every change of sharding an op -----------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/Notes.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/Recorded.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "insert-reshards"

namespace pcc::shard {
#define GEN_PASS_DEF_INSERTRESHARDS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

namespace {
/// Inserts reshards in front of the first use, one per value and sharding.
class Inserter {
public:
  explicit Inserter(func::FuncOp function) : function(function) {}

  unsigned run() {
    for (Operation &op :
         llvm::make_early_inc_range(function.front().without_terminator()))
      if (auto recorded = recordedOp(&op))
        for (OpOperand &operand : op.getOpOperands())
          require(operand,
                  recorded->operandSharding(operand.getOperandNumber()));
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands())
      if (auto wanted = function.getResultAttrOfType<dist::ShardingAttr>(
              operand.getOperandNumber(), dist::shardingName))
        require(operand, wanted.getSharding());
    return made.size();
  }

private:
  void require(OpOperand &operand, const dist::Sharding &wanted) {
    Value value = operand.get();
    dist::ShardingAttr from = dist::shardingOf(value);
    if (!from || dist::samePlacement(from.getSharding(), wanted))
      return;
    auto to = dist::ShardingAttr::get(function.getContext(), wanted);
    Attribute stage = stageOfUse(operand);
    Value &reshard =
        made[{value, ArrayAttr::get(function.getContext(), {to, stage})}];
    if (!reshard) {
      OpBuilder builder(operand.getOwner());
      reshard =
          dist::ReshardOp::create(builder, value.getLoc(), value.getType(),
                                  value, from, to, DenseI64ArrayAttr());
      dist::setSharding(reshard, wanted);
      reshard.getDefiningOp()->setAttr(pipe::stageName, stage);
      LDBG() << "reshard " << from << " to " << to;
    }
    operand.set(reshard);
  }

  /// A value is resharded on the stage that uses it; one that is transferred,
  /// on the stage that sends it.
  static Attribute stageOfUse(OpOperand &operand) {
    Operation *user = operand.getOwner();
    if (auto transfer = dyn_cast<pipe::TransferOp>(user))
      return transfer.getFromAttr();
    if (isa<func::ReturnOp>(user))
      user = operand.get().getDefiningOp();
    return Builder(operand.get().getContext())
        .getI64IntegerAttr(user ? pipe::stageOf(user) : 0);
  }

  func::FuncOp function;
  DenseMap<std::pair<Value, Attribute>, Value> made;
};

struct InsertReshards : pcc::shard::impl::InsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    numReshards += Inserter(getOperation()).run();
    noteShardings(getOperation());
  }
};
} // namespace
