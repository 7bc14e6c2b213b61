//===- Leaves.cpp - sharding rules of weights, constants and indices ------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// A result-only rule: every dim may be split.
static ShardingRule leafRule(Operation *op) {
  ShardingRule rule;
  rule.results.push_back(
      addDims(rule, tensorType(op->getResult(0)).getShape()));
  return rule;
}

ShardingRule GetParameterOp::getShardingRule() { return leafRule(*this); }
ShardingRule ConstantOp::getShardingRule() { return leafRule(*this); }

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = leafRule(*this);
  for (int factor : rule.results[0][getDim()])
    rule.factors[factor].needsOffset = true;
  return rule;
}
