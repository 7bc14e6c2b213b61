//===- Sources.cpp - sharding rules of parameters, constants and iota -----===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the rule of an op without operands: every dim is a Parallel factor.
/// A dim of size 1 has a factor as well; if it is split, one rank has its
/// element.
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

/// Gives operand and result the factors of a source, also for dims of size 1.
/// Partial sums pass.
ShardingRule AccumulateOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  rule.operands.push_back(rule.results[0]);
  rule.partialThrough = {0};
  return rule;
}

/// Gives the written value the factors of sourceRule, like the parameter.
ShardingRule SetParameterOp::getShardingRule() {
  ShardingRule rule;
  ShardingRule::TensorFactors &dims = rule.operands.emplace_back();
  for (int64_t size : tensorType(getValue()).getShape())
    dims.push_back(size > 0 ? ShardingRule::DimFactors{rule.add(size)}
                            : ShardingRule::DimFactors{});
  return rule;
}

/// Makes all dims Parallel; parts of the counted dim need their position.
ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  for (int factor : rule.results[0][getDim()])
    rule.factors[factor].needsOffset = true;
  return rule;
}
