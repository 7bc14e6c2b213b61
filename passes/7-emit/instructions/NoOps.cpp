//===- NoOps.cpp - ops that need no instruction, or only a copy -----------===//

#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/InstructionTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Appends no instruction, because ops such as reshapes and constants compute
/// nothing. A reshape shares the buffer of its operand, and a constant is in
/// memory before the run.
static bool isThere(Operation *, InstructionWriter &) { return true; }

/// Appends the instruction of a graph.set_parameter: a copy of the new value to
/// the buffer of a parameter (weight or optimizer state). Appends nothing if an
/// earlier instruction already writes the new value to this buffer.
static bool setParameter(Operation *op, InstructionWriter &writer) {
  auto set = cast<graph::SetParameterOp>(op);
  program::CopyT copy;
  copy.source = writer.bufferOf(set.getValue());
  copy.target = writer.buffers.parameterBuffer(set);
  if (copy.target < 0)
    return false;
  if (copy.target == copy.source)
    return true;
  copy.source_offset = std::make_unique<program::ScalarT>();
  copy.target_offset = std::make_unique<program::ScalarT>();
  copy.loops.emplace_back(graph::tensorType(set.getValue()).getNumElements(), 1,
                          1);
  writer.emit(op, std::move(copy));
  return true;
}

void emit::addNoOpInstructions(InstructionTable &table) {
  table.add<graph::GetParameterOp>(isThere);
  table.add<graph::SetParameterOp>(setParameter);
  table.add<graph::ConstantOp>(isThere);
  table.add<graph::ReshapeOp>(isThere);
  table.add<pipe::ReceiveOp>(isThere);
  table.add<pipe::SendOp>(isThere);
}
