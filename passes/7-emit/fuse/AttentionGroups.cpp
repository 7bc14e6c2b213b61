//===- AttentionGroups.cpp - kernel groups of fused attention -------------===//

#include "passes/7-emit/fuse/AttentionGroups.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/fuse/LibraryCalls.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns whether the last dim of `view` is contiguous in memory, so that
/// neighboring GPU threads access neighboring elements.
static bool isAlongRows(const StridedView &view) {
  return view.strides.back() == 1 || view.shape.back() == 1;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return graph::tensorType(value).getShape();
}

/// Adds to `group` the transposes, slices and reshapes that compute `operand`,
/// if the attention kernel can read their input with strides. Adds none if the
/// last dim of `operand` would not be contiguous in memory.
static void addOperand(Value operand, KernelGroup &group) {
  const OperandView seen = viewOperand(operand);
  if (isAlongRows(seen.view))
    group.ops.insert(seen.ops.begin(), seen.ops.end());
}

/// Adds to `group` the transposes after `result`, if the attention kernel can
/// store `result` in transposed order. Adds none if another kernel reads the
/// transposed tensor: that kernel can read `result` with strides.
static void addOrder(Value result, KernelGroup &group) {
  SmallVector<Operation *> order = layoutOpsAfter(result);
  while (!order.empty() && isa<graph::ReshapeOp>(order.back()))
    order.pop_back();
  if (order.empty() || isReadByKernel(order.back()->getResult(0)))
    return;
  const auto view = storedView(result, order);
  if (view && isAlongRows(*view))
    group.ops.insert(order.begin(), order.end());
}

/// Returns whether `value` has the dims [batch, heads, sequence, depth], as
/// queries and keys have. Numbers per query, such as softmax maxima, have the
/// dims [batch, heads, sequence].
static bool hasRows(Value value) {
  return graph::tensorType(value).getRank() == 4;
}

std::vector<KernelGroup> pcc::emit::groupAttention(Block &block) {
  std::vector<KernelGroup> groups;
  for (auto op : block.getOps<graph::AttentionOpInterface>()) {
    KernelGroup &group = groups.emplace_back();
    for (Value operand : op->getOperands())
      if (hasRows(operand) && operand != op.getMask())
        addOperand(operand, group);
    group.ops.insert(op);
    for (Value result : op->getResults())
      if (hasRows(result))
        addOrder(result, group);
    group.shape.assign(shapeOf(op.getQuery()).begin(),
                       shapeOf(op.getQuery()).end());
  }
  return groups;
}
