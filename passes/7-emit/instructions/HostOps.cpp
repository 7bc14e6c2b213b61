//===- HostOps.cpp - lowering of ops that devices run by name -------------===//
//
// Each file in runtime/device/cpu/hostops documents the meaning of the
// `integers` of its ops.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/program/InstructionTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Appends an instruction that executes `op` on a CPU. `name` is the name by
/// which the runtime finds the C++ function for the op, such as "top_k". The
/// function reads the operands of `op`, and writes the results of `op`.
/// `integers` are the attributes of `op` as integers. Example: for "top_k",
/// they are the index of the dim to sort, and 1 for the largest elements or 0
/// for the smallest elements.
static bool emitHostOp(Operation *op, InstructionWriter &writer, StringRef name,
                       std::vector<int64_t> integers) {
  program::HostOpT made;
  made.name = name.str();
  for (Value operand : op->getOperands())
    made.inputs.push_back(writer.bufferOf(operand));
  for (Value result : op->getResults())
    made.outputs.push_back(writer.bufferOf(result));
  made.integers = std::move(integers);
  writer.emit(op, std::move(made));
  return true;
}

static bool buildTopK(Operation *op, InstructionWriter &writer) {
  auto topk = cast<graph::TopKOp>(op);
  return emitHostOp(op, writer, "top_k",
                    {static_cast<int64_t>(topk.getDim()), topk.getLargest()});
}

static bool buildCumSum(Operation *op, InstructionWriter &writer) {
  auto sum = cast<graph::CumSumOp>(op);
  return emitHostOp(op, writer, "cumsum",
                    {static_cast<int64_t>(sum.getDim()), sum.getExclusive(),
                     sum.getReverse()});
}

static bool buildScatterElements(Operation *op, InstructionWriter &writer) {
  auto scatter = cast<graph::ScatterElementsOp>(op);
  return emitHostOp(op, writer, "scatter_elements",
                    {static_cast<int64_t>(scatter.getDim()),
                     static_cast<int64_t>(scatter.getKind())});
}

static bool buildScatterNd(Operation *op, InstructionWriter &writer) {
  auto scatter = cast<graph::ScatterNdOp>(op);
  return emitHostOp(op, writer, "scatter_nd",
                    {static_cast<int64_t>(scatter.getKind())});
}

static bool buildGroupRows(Operation *op, InstructionWriter &writer) {
  auto group = cast<graph::GroupRowsOp>(op);
  return emitHostOp(op, writer, "group_rows",
                    {static_cast<int64_t>(group.getChosen())});
}

static bool buildGroupedMatmul(Operation *op, InstructionWriter &writer) {
  auto matmul = cast<graph::GroupedMatmulOp>(op);
  return emitHostOp(op, writer, "grouped_matmul", {matmul.getTransposeRhs()});
}

void emit::addHostInstructions(InstructionTable &table) {
  table.add<graph::TopKOp>(buildTopK);
  table.add<graph::CumSumOp>(buildCumSum);
  table.add<graph::ScatterElementsOp>(buildScatterElements);
  table.add<graph::ScatterNdOp>(buildScatterNd);
  table.add<graph::GroupRowsOp>(buildGroupRows);
  table.add<graph::GroupedMatmulOp>(buildGroupedMatmul);
}
