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

/// Fuses transposes, slices and reshapes before an attention op into the
/// attention kernel. Adds the ops that compute `operand` to `group`, the ops of
/// the kernel. The kernel reads the tensor before these ops (the source) with
/// strides. Example: for a transpose from [1, 5, 2, 4] to [1, 2, 5, 4], the
/// kernel reads element [0, i, j, k] at position 4 i + 8 j + k of the source.
/// Adds no op if viewOperand() finds no such ops, for example because another
/// kernel computes the source. Adds no op either if neighbors in the last dim
/// are not neighbors in the source.
static void addOperand(Value operand, KernelGroup &group) {
  const OperandView seen = viewOperand(operand);
  if (isAlongRows(seen.view))
    group.ops.insert(seen.ops.begin(), seen.ops.end());
}

/// Fuses transposes and reshapes after an attention op into the attention
/// kernel. Adds the ops after `result`, up to the last transpose, to `group`,
/// the ops of the kernel. The kernel stores `result` in the order of the
/// transposed tensor. Example: for a transpose from [1, 2, 5, 4] to
/// [1, 5, 2, 4], the kernel stores element [0, i, j, k] at position 4 i + 8 j +
/// k. Adds no op if another kernel reads the transposed tensor: that kernel can
/// read `result` with strides. Adds no op either if no strides describe the
/// positions, or if neighbors in the last dim would not be neighbors in memory.
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

/// Returns whether `value` has four dims. `value` is an operand or a result of
/// an attention op. Tensors with four dims contain a row of `depth` elements
/// for each query or each key. Examples are the queries, the keys, the values,
/// and the gradients of these tensors. Tensors with three dims contain only one
/// number per query, such as the largest score of each query:
///
///   queries          [batch, heads, sequence, depth]   true
///   largest scores   [batch, heads, sequence]          false
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
