//===- ValueSources.cpp - ops from which a value is computed --------------===//

#include "passes/interpret/compare/ValueSources.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

OpResult interpret::originOf(Value value) {
  llvm::SmallPtrSet<Value, 4> seen;
  while (auto argument = dyn_cast_or_null<BlockArgument>(value)) {
    if (!seen.insert(value).second)
      return {};
    value = pipe::heldBy(argument);
  }
  return dyn_cast_or_null<OpResult>(value);
}

ValueSources::ValueSources(ModuleOp module) {
  module.walk([this](pipe::SendOp send) { sends[send.getValue()] = send; });
}

SmallVector<OpResult> ValueSources::of(OpResult result) const {
  SmallVector<Value> values(result.getOwner()->getOperands());
  if (auto receive = dyn_cast<pipe::ReceiveOp>(result.getOwner()))
    if (pipe::SendOp send = sends.lookup(receive.getValue()))
      values.push_back(send.getInput());
  SmallVector<OpResult> sources;
  for (Value value : values)
    if (OpResult origin = originOf(value))
      sources.push_back(origin);
  return sources;
}
