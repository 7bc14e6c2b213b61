//===- Reductions.cpp - sharding rules of reductions and pools ------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the operation that combines the results of ranks that split a
/// reduced dim. A mean gives Sum, because each rank divides by the number of
/// elements of all ranks.
static FactorKind kindOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return FactorKind::Sum;
  case ReduceKind::Max:
    return FactorKind::Max;
  case ReduceKind::Min:
    return FactorKind::Min;
  case ReduceKind::Prod:
    return FactorKind::Prod;
  }
  return FactorKind::Whole;
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  ShardingRule::TensorFactors input = addDims(
                                  rule, tensorType(getInput()).getShape()),
                              result;
  for (auto [i, dim] : llvm::enumerate(input)) {
    bool reduced = llvm::is_contained(getDims(), static_cast<int64_t>(i));
    for (int factor : dim)
      if (reduced)
        rule.factors[factor].kind = kindOf(getKind());
    if (!reduced || getKeep())
      result.push_back(reduced ? ShardingRule::DimFactors{} : dim);
  }
  rule.operands.push_back(input);
  rule.results.push_back(result);
  if (kindOf(getKind()) == FactorKind::Sum)
    rule.partialThrough = {0};
  return rule;
}

ShardingRule PoolOp::getShardingRule() {
  ShardingRule rule;
  auto input = tensorType(getInput()).getShape();
  ShardingRule::TensorFactors outer = addDims(rule, input.take_front(2)),
                              operand = outer, result = outer;
  llvm::append_range(operand,
                     addDims(rule, input.drop_front(2), FactorKind::Whole));
  llvm::append_range(
      result, addDims(rule, tensorType(getResult()).getShape().drop_front(2),
                      FactorKind::Whole));
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  SmallVector<int64_t> extents;
  for (auto [window, dilation] : llvm::zip(getWindow(), getDilations()))
    extents.push_back((window - 1) * dilation + 1);
  slideWindows(rule, extents, getStrides(), getPads());
  // A pool of the kind Average divides the sum of each window by the number of
  // window elements that are not padding. If ranks split a spatial dim, the
  // halo exchange adds the padding to the input as elements with the value 0. A
  // rank cannot distinguish this padding from other elements. Ranks must
  // therefore not split a padded spatial dim of a pool of the kind Average.
  // `counts` returns true for each dim that ranks must not split.
  auto counts = [&](const ShardingRule::Window &window) {
    size_t i = window.dim - 2;
    return getKind() == PoolKind::Average &&
           getPads()[i] + getPads()[i + extents.size()] > 0;
  };
  for (const ShardingRule::Window &window : rule.windows)
    if (counts(window))
      for (int factor : rule.results[0][window.dim])
        rule.factors[factor].kind = FactorKind::Whole;
  return rule;
}
