//===- BatchOrder.cpp - order in which axes split a batch of factors ------===//

#include "passes/4-shard/policy/BatchOrder.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

using graph::ShardingRule;

BatchOrder::BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh)
    : graph(graph), holds(graph::isReproducible(graph.function) ||
                          graph.hasUnevenMicrobatches()),
      time{std::string(dist::timeAxis),
           mesh.sizeOf(std::string(dist::timeAxis))} {}

/// Returns whether a sub-axis in `axes` is more major than a sub-axis in
/// `before` of the same mesh axis. `axes` split one factor of a batch dim, and
/// `before` split the factors to its left. Example: the axis dp of size 4 has a
/// major and a minor part of size 2, and the batch dim has the factors [2|2]:
///
///   splits the left 2   splits the right 2   result
///   major part          minor part           false
///   minor part          major part           true
static bool comesTooLate(const dist::SubAxes &axes,
                         const dist::SubAxes &before) {
  return llvm::any_of(axes, [&](const dist::SubAxis &part) {
    return llvm::any_of(before, [&](const dist::SubAxis &other) {
      return other.axis == part.axis && part.pre < other.pre;
    });
  });
}

/// Returns whether `op` splits the factors of the batch in a forbidden order.
/// `dim` lists the factors (parts) of one dim of a tensor, major first. `tags`
/// contains one tag for each factor of `op`. A factor belongs to the batch if
/// its tag is Batch. Two orders are forbidden:
///
/// - A mesh axis splits a factor, and a factor to the left is not split
///   completely. An example is [2|2@dp]: the mesh axis dp splits the second
///   factor, and no axis splits the first factor.
/// - A part of a mesh axis splits a factor, and a more minor part of this axis
///   splits a factor to the left. An example is a mesh axis dp of size 4 whose
///   minor half splits the first factor of [2|2], and whose major half splits
///   the second factor.
static bool splitsOutOfOrder(const ShardedOp &op, ArrayRef<FactorTag> tags,
                             ArrayRef<int> dim) {
  bool isUnfilled = false;
  dist::SubAxes before;
  for (int factor : dim) {
    if (tags[factor] != FactorTag::Batch)
      continue;
    if ((isUnfilled && !op.axes[factor].empty()) ||
        comesTooLate(op.axes[factor], before))
      return true;
    llvm::append_range(before, op.axes[factor]);
    isUnfilled |=
        dist::numParts(op.axes[factor]) < op.rule->factors[factor].size;
  }
  return false;
}

bool BatchOrder::isKept(unsigned index, const ShardedOp &op) const {
  if (!holds || (time.size > 1 && !op.isSplitBy(time)))
    return true;
  return llvm::none_of(llvm::concat<const ShardingRule::TensorFactors>(
                           op.rule->operands, op.rule->results),
                       [&](const ShardingRule::TensorFactors &tensor) {
                         return llvm::any_of(tensor, [&](ArrayRef<int> dim) {
                           return splitsOutOfOrder(op, graph.tags[index], dim);
                         });
                       });
}
