//===- Experts.cpp - sharding rules of dropless mixture-of-experts ops ----===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the sharding rule of group_rows. The rule forbids ranks to split any
/// dim of an operand or of the result. The reason is that each row of the
/// result depends on the gates (routing weights) of all tokens. In the rule,
/// each dim of more than one element is a factor (loop index of the op) of the
/// kind Whole (not to be split).
ShardingRule GroupRowsOp::getShardingRule() { return wholeRule(*this); }

/// Returns the sharding rule of grouped_matmul, which multiplies each row of
/// [rows, k] by the matrix of its expert in [experts, k, n]. Ranks must not
/// split rows or experts. A split of k gives partial sums. A split of n needs
/// no communication.
ShardingRule GroupedMatmulOp::getShardingRule() {
  ShardingRule rule;
  rule.operands = {
      addDims(rule, tensorType(getRows()).getShape(), FactorKind::Whole),
      addDims(rule, tensorType(getMatrices()).getShape(), FactorKind::Whole)};
  auto &rows = rule.operands[0], &matrices = rule.operands[1];
  const size_t summed = getTransposeRhs() ? 2 : 1, columns = 3 - summed;
  matrices[summed] = rows[1];
  for (int factor : rows[1])
    rule.factors[factor].kind = FactorKind::Sum;
  for (int factor : matrices[columns])
    rule.factors[factor].kind = FactorKind::Parallel;
  rule.operands.push_back({matrices[0]});
  rule.results = {{rows[0], matrices[columns]}};
  rule.partialThrough = {0};
  return rule;
}
