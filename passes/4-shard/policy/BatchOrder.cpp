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

/// Returns whether `axes` has a more major part of an axis than `before`.
static bool comesTooLate(const dist::SubAxes &axes,
                         const dist::SubAxes &before) {
  return llvm::any_of(axes, [&](const dist::SubAxis &part) {
    return llvm::any_of(before, [&](const dist::SubAxis &other) {
      return other.axis == part.axis && part.pre < other.pre;
    });
  });
}

/// Returns whether `op` splits the batch out of order. `dim` lists the factors
/// of one dim of a tensor, major first. `tags` are the tags of all factors of
/// `op`: Batch marks those of the batch. There are two cases:
///
///   a more major factor is not split completely    [2|2@dp]
///   a more major factor has a more minor part      [2@dp:(2)2|2@dp:2]
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
