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

/// Returns whether `op` splits a factor (part) of the batch, although it does
/// not split a more major factor of the batch completely. `dim` lists the
/// factors of one dim of a tensor, major first. `tags` are the tags of all
/// factors of `op`: Batch marks those of the batch. Examples:
///
///   [2|2@dp]   true
///   [2@dp|2]   false
static bool skipsFactor(const ShardedOp &op, ArrayRef<FactorTag> tags,
                        ArrayRef<int> dim) {
  bool isUnfilled = false;
  for (int factor : dim) {
    if (tags[factor] != FactorTag::Batch)
      continue;
    if (isUnfilled && !op.axes[factor].empty())
      return true;
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
                           return skipsFactor(op, graph.tags[index], dim);
                         });
                       });
}
