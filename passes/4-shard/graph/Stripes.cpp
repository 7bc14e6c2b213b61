//===- Stripes.cpp - striped attention: equal causal work on every rank ---===//

#include "passes/4-shard/graph/Stripes.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Largest number of stripes (contiguous ranges of tokens) of a sequence. Under
/// a causal mask, 4 stripes need 63 % of all query-key pairs. With 8 stripes,
/// 56 % would remain, but in twice as many matrix products.
static constexpr int64_t mostStripes = 4;

int64_t pcc::shard::stripesFor(int64_t numTokens, int64_t numParts) {
  for (int64_t stripes = mostStripes; stripes > 1; stripes /= 2)
    if (numTokens > 0 && numTokens % (stripes * numParts) == 0)
      return stripes;
  return 1;
}

/// Returns two lists of loop dims, as indices into `rule.factors`: those of the
/// tensor dim that counts the queries of the attention `op`, and those of the
/// tensor dim that counts its keys. Returns std::nullopt if `op` is no causal
/// attention, or has different numbers of queries and keys. `op` may be null.
static std::optional<std::pair<ArrayRef<int>, ArrayRef<int>>>
tokensOf(Operation *op, const RefinedRule &rule) {
  auto attention = dyn_cast_or_null<graph::AttentionOp>(op);
  if (!attention || !attention.getCausal() ||
      graph::tensorType(attention.getQuery()).getDimSize(2) !=
          graph::tensorType(attention.getKey()).getDimSize(2))
    return {};
  return std::pair(ArrayRef<int>(rule.operands[0][2]),
                   ArrayRef<int>(rule.operands[1][2]));
}

bool pcc::shard::cutInStripes(Operation *op, RefinedRule &rule,
                              int64_t numParts) {
  auto tokens = tokensOf(op, rule);
  if (!tokens || tokens->first.size() != 1 || tokens->second.size() != 1)
    return false;
  const int queries = tokens->first[0], keys = tokens->second[0];
  const int64_t size = rule.factors[queries].size,
                stripes = stripesFor(size, numParts);
  if (stripes == 1)
    return false;
  rule.refine(queries, {stripes, size / stripes});
  rule.refine(keys, {stripes, size / stripes});
  return true;
}

int64_t pcc::shard::stripesOf(const ShardedOp &op) {
  auto tokens = tokensOf(op.op, *op.rule);
  if (!tokens || tokens->first.size() != 2)
    return 1;
  const int stripe = tokens->first[0], part = tokens->first[1];
  return op.axes[stripe].empty() && !op.axes[part].empty()
             ? op.rule->factors[stripe].size
             : 1;
}
