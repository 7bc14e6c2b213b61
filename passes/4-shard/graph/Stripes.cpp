//===- Stripes.cpp - striped attention: equal causal work on every rank ---===//

#include "passes/4-shard/graph/Stripes.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Largest number of stripes (contiguous pieces) into which a sequence is cut.
/// Under a causal mask, the queries of a stripe need only the keys of the same
/// stripe and of earlier stripes. With 4 stripes, 10 of 16 pairs of a query
/// stripe and a key stripe are needed (63 %). With 8 stripes, 36 of 64 pairs
/// would be needed (56 %). However, attention multiplies queries and keys once
/// for each stripe of queries, so 8 stripes would need twice as many matrix
/// products as 4 stripes.
static constexpr int64_t mostStripes = 4;

int64_t pcc::shard::stripesFor(int64_t numTokens, int64_t numParts) {
  for (int64_t stripes = mostStripes; stripes > 1; stripes /= 2)
    if (numTokens > 0 && numTokens % (stripes * numParts) == 0)
      return stripes;
  return 1;
}

/// Returns two lists: the factors of the token dim of the queries, and the
/// factors of the token dim of the keys. `op` is an attention, and `rule` is
/// its sharding rule. The rule cuts a dim into one or more factors. For
/// example, the dim of 16 tokens may have the factors 4 and 4. Each list
/// contains indices into `rule.factors`.
///
/// Returns std::nullopt if `op` is null, is no attention, has no causal mask,
/// or has different numbers of queries and keys.
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
