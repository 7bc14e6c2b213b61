//===- Sources.cpp - sharding rules of parameters, constants and iota -----===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the sharding rule of an op without operands. Every dim of the result
/// is a Parallel factor (split without communication), even if its size is 1.
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

/// Makes every dim a Parallel factor (split without communication), even if its
/// size is 1. If the operand is a partial sum, the result is a partial sum,
/// too.
ShardingRule AccumulateOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  rule.operands.push_back(rule.results[0]);
  rule.partialThrough = {0};
  return rule;
}

/// Makes every dim of the written value a Parallel factor (split without
/// communication), even if its size is 1.
ShardingRule SetParameterOp::getShardingRule() {
  ShardingRule rule;
  ShardingRule::TensorFactors &dims = rule.operands.emplace_back();
  for (int64_t size : tensorType(getValue()).getShape())
    dims.push_back(size > 0 ? ShardingRule::DimFactors{rule.add(size)}
                            : ShardingRule::DimFactors{});
  return rule;
}

/// Makes all dims Parallel factors (split without communication). The elements
/// of iota count along one dim. A rank must know at which index its range of
/// that dim begins.
ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule = sourceRule(*this);
  for (int factor : rule.results[0][getDim()])
    rule.factors[factor].needsOffset = true;
  return rule;
}
