//===- ErasePins.cpp - removal of pins, after reshards --------------------===//

#include "dialects/dist/DistDialect.h"
#include "passes/4-shard/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "erase-pins"

namespace pcc::shard {
#define GEN_PASS_DEF_ERASEPINS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;

/// Erases `pin`, a sharding constraint for its operand. Users of its result
/// read the operand instead. Emits an error and fails if the operand has
/// another sharding than the constraint.
static LogicalResult erase(dist::PinOp pin) {
  dist::ShardingAttr from = dist::shardingOf(pin.getInput());
  dist::ShardingAttr to = dist::shardingOf(pin.getResult());
  if (!from || !to ||
      !dist::samePlacement(from.getSharding(), to.getSharding()))
    return pin.emitOpError("has another sharding than its operand; "
                           "insert-reshards must run before");
  pin.replaceAllUsesWith(pin.getInput());
  pin.erase();
  return success();
}

namespace {
/// Pass that erases all ops `dist.pin` (sharding constraints) of a function.
struct ErasePins : pcc::shard::impl::ErasePinsBase<ErasePins> {
  void runOnOperation() override {
    for (auto pin : llvm::make_early_inc_range(
             getOperation().front().getOps<dist::PinOp>())) {
      LDBG() << "erase " << pin;
      if (++numPins; failed(erase(pin)))
        return signalPassFailure();
    }
  }
};
} // namespace
