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
/// an operand of the attention op. The attention kernel then does not execute
/// these ops. Instead, the kernel reads the tensor before these ops, with the
/// strides that the ops describe. Adds no op in two cases:
///
///   - viewOperand() finds no op that strides can replace.
///   - Neighboring elements of the last dim of `operand` would not be neighbors
///     in memory.
static void addOperand(Value operand, KernelGroup &group) {
  const OperandView seen = viewOperand(operand);
  if (isAlongRows(seen.view))
    group.ops.insert(seen.ops.begin(), seen.ops.end());
}

/// Adds to `group` the transposes and reshapes that follow `result`, a result
/// of the attention op. The attention kernel then does not execute these ops.
/// Instead, the kernel writes each element of `result` directly to its final
/// place after these ops. Adds no op in four cases:
///
///   - No transpose follows `result`.
///   - Another fused kernel reads the transposed tensor. This other kernel can
///     read `result` with strides, so that the transpose costs no time.
///   - No strides describe the final places of the elements.
///   - Neighboring elements of the last dim of `result` would not be neighbors
///     in memory after the transposes.
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

/// Returns whether `value` has four dims: [batch, heads, sequence, depth]. Each
/// query, key or value is one row of `depth` elements of such a tensor. The
/// gradients of queries, keys and values have four dims as well. A tensor with
/// one number per query, such as the largest score of each query, has only
/// three dims: [batch, heads, sequence].
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
