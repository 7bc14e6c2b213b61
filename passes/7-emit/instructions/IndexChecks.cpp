//===- IndexChecks.cpp - lowering of checks of indices --------------------===//

#include "passes/7-emit/program/InstructionTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Appends an instruction that checks a tensor of indices, such as the token
/// ids of an embedding. The instruction ends the run if an index is out of
/// range.
static bool buildCheck(Operation *op, InstructionWriter &writer) {
  auto check = cast<graph::CheckIndicesOp>(op);
  program::CheckIndicesT made;
  made.buffer = writer.bufferOf(check.getIndices());
  made.sizes.assign(check.getSizes().begin(), check.getSizes().end());
  made.from_zero = check.getFromZero();
  if (auto name = op->getAttrOfType<StringAttr>(graph::nameName))
    made.input = name.str();
  made.table_name = check.getTable().str();
  writer.emit(op, std::move(made));
  return true;
}

void emit::addCheckInstructions(InstructionTable &table) {
  table.add<graph::CheckIndicesOp>(buildCheck);
}
