//===- Recorded.cpp - a sharded op as its attributes record it ------------===//

#include "passes/4-shard/Recorded.h"
#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

std::optional<ShardedOp> pcc::shard::recordedOp(Operation *op) {
  auto split = op->getAttrOfType<dist::ShardingAttr>(splitName);
  if (!split)
    return std::nullopt;
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  ShardedOp recorded(op, ruled ? ruled.getShardingRule()
                               : graph::sameShapeRule(op));
  if (split.getSharding().rank() != recorded.rule.factors.size())
    return std::nullopt;
  for (auto [axes, dim] :
       llvm::zip_equal(recorded.axes, split.getSharding().dims))
    axes = dim.axes();
  auto operands = op->getAttrOfType<DenseI64ArrayAttr>(throughName);
  if ((operands ? operands.size() : 0) !=
      static_cast<int64_t>(split.getSharding().partials.size()))
    return std::nullopt;
  for (auto [i, partial] : llvm::enumerate(split.getSharding().partials)) {
    recorded.through.push_back(partial.axis);
    recorded.throughOperand.push_back(operands[i]);
  }
  return recorded;
}
