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

/// Fuses ops before an attention op into the attention kernel. `operand` is an
/// operand of the attention op, such as the queries. `group` is the set of ops
/// that one attention kernel will replace. Adds to `group` the transposes,
/// slices and reshapes that compute `operand` from another tensor, the source.
/// The attention kernel does not execute these ops. Instead, the kernel reads
/// the elements of `operand` from the source, with strides.
///
/// Example: the source has the shape [1, 5, 2, 4], and a transpose computes
/// `operand` with the shape [1, 2, 5, 4]. The kernel reads element [0, i, j, k]
/// of `operand` at position 4 i + 8 j + k of the source.
///
/// Adds no op in four cases:
///
///   - No transpose or slice computes `operand`. An op counts only if its
///     result has one reader.
///   - Another fused kernel computes the source. This other kernel can
///     transpose the source at no cost when it stores the source.
///   - No strides describe the positions of the elements in the source, or the
///     attention kernel does not support the strides. For example, the kernel
///     does not support negative strides.
///   - Neighboring elements of the last dim of `operand` are not neighbors in
///     the source.
static void addOperand(Value operand, KernelGroup &group) {
  const OperandView seen = viewOperand(operand);
  if (isAlongRows(seen.view))
    group.ops.insert(seen.ops.begin(), seen.ops.end());
}

/// Fuses ops after an attention op into the attention kernel. `result` is a
/// result of the attention op. `group` is the set of ops that one attention
/// kernel will replace. Adds to `group` a chain of transposes and reshapes. The
/// chain begins at `result` and ends with a transpose. The attention kernel
/// does not execute these ops. Instead, the kernel stores each element of
/// `result` at the position that the element has in the output of the last
/// transpose.
///
/// Example: `result` has the shape [1, 2, 5, 4], and the output of the
/// transpose has the shape [1, 5, 2, 4]. The kernel stores element [0, i, j, k]
/// of `result` at position 4 i + 8 j + k.
///
/// Adds no op in four cases:
///
///   - No transpose follows `result`. A transpose counts only if no other op
///     reads the input of the transpose.
///   - Another fused kernel reads the output of the last transpose. This other
///     kernel can read `result` with strides instead. Then no kernel executes
///     the transpose.
///   - No strides describe the positions of the elements in the output of the
///     last transpose.
///   - Neighboring elements of the last dim of `result` are not neighbors in
///     the output of the last transpose.
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
