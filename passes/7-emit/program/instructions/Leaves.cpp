//===- Leaves.cpp - ops that need no instruction --------------------------===//

#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/InstructionTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Its value has a storage, which is all there is to it.
static bool isThere(Operation *, InstructionWriter &) { return true; }

void emit::addLeafInstructions(InstructionTable &table) {
  table.add<graph::GetParameterOp>(isThere);
  table.add<graph::ConstantOp>(isThere);
  table.add<graph::ReshapeOp>(isThere);
  table.add<pipe::ReceiveOp>(isThere);
  table.add<pipe::SendOp>(isThere);
}
