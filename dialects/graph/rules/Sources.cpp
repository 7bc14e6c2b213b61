//===- Sources.cpp - sharding rules of weights, constants and indices -----===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// A result-only rule: every dim may be split, also one of a single element,
/// which then lies on one rank.
static ShardingRule sourceRule(Operation *op) {
  ShardingRule rule;
  ShardingRule::TensorFactors &dims = rule.results.emplace_back();
  for (int64_t size : tensorType(op->getResult(0)).getShape())
    dims.push_back(size > 0 ? ShardingRule::DimFactors{rule.add(size)}
                            : ShardingRule::DimFactors{});
  return rule;
}

ShardingRule GetParameterOp::getShardingRule() { return sourceRule(*this); }
ShardingRule ConstantOp::getShardingRule() { return sourceRule(*this); }

ShardingRule LossGradientOp::getShardingRule() { return sourceRule(*this); }

/// As a leaf with an operand: dims of one element may lie on one rank, too.
ShardingRule AccumulateOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  rule.operands.push_back(rule.results[0]);
  rule.partialThrough = {0};
  return rule;
}

ShardingRule SetParameterOp::getShardingRule() {
  ShardingRule rule;
  ShardingRule::TensorFactors &dims = rule.operands.emplace_back();
  for (int64_t size : tensorType(getValue()).getShape())
    dims.push_back(size > 0 ? ShardingRule::DimFactors{rule.add(size)}
                            : ShardingRule::DimFactors{});
  return rule;
}

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  for (int factor : rule.results[0][getDim()])
    rule.factors[factor].needsOffset = true;
  return rule;
}
