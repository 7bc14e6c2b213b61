//===- Sources.cpp - sharding rules of parameters, constants and iota -----===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the rule of an op without operands: every dim of the result is a
/// Parallel factor. A dim of size 1 also has a factor; if it is split, one rank
/// has the element.
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

/// Makes every dim of operand and result a Parallel factor, including dims of
/// size 1. Lets partial sums pass.
ShardingRule AccumulateOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  rule.operands.push_back(rule.results[0]);
  rule.partialThrough = {0};
  return rule;
}

/// Makes every dim of the written value a Parallel factor, including dims of
/// size 1, as in the rule of the parameter.
ShardingRule SetParameterOp::getShardingRule() {
  ShardingRule rule;
  ShardingRule::TensorFactors &dims = rule.operands.emplace_back();
  for (int64_t size : tensorType(getValue()).getShape())
    dims.push_back(size > 0 ? ShardingRule::DimFactors{rule.add(size)}
                            : ShardingRule::DimFactors{});
  return rule;
}

/// Makes all dims Parallel factors. If the counted dim is split, each rank must
/// know which indices it has.
ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  for (int factor : rule.results[0][getDim()])
    rule.factors[factor].needsOffset = true;
  return rule;
}
