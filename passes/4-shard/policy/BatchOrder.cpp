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

/// Returns whether two sub-axes of one mesh axis split the factors of a batch
/// dim in the wrong order. `axes` split one factor of the dim, such as the 4 in
/// 2·4, and `before` split the factors to its left. The order is wrong if
/// `axes` contains a sub-axis that is more major than one in `before`. For
/// example, `axes` contains dp:(1)2, and `before` contains dp:(2)2.
static bool comesTooLate(const dist::SubAxes &axes,
                         const dist::SubAxes &before) {
  return llvm::any_of(axes, [&](const dist::SubAxis &part) {
    return llvm::any_of(before, [&](const dist::SubAxis &other) {
      return other.axis == part.axis && part.pre < other.pre;
    });
  });
}

/// Returns whether mesh axes split the batch factors of a tensor dim in an
/// order that BatchOrder forbids. For example, dp splits only the minor factor
/// of the batch 4 = 2·2. `dim` lists the loop dims of `op` that form the tensor
/// dim, major first. `tags` has one tag for each loop dim of `op`.
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
