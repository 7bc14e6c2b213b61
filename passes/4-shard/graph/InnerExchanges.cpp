//===- InnerExchanges.cpp - communication among the parts of one split op -===//

#include "passes/4-shard/graph/InnerExchanges.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/4-shard/graph/Pricing.h"
#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns the size of the largest part that a rank has of one dim of `op`. The
/// dim is the dim with the kind Inner: if ranks split this dim, they exchange
/// values while the op runs. For example, a topk along a dim of 10 elements has
/// this dim as its Inner dim. If 4 ranks split the dim, the largest part has 3
/// elements. If `op` has several Inner dims, returns the product of the sizes.
static int64_t largestPart(const ShardedOp &op) {
  int64_t size = 1;
  for (auto [factor, axes] : llvm::zip_equal(op.rule->factors, op.axes))
    if (factor.kind == FactorKind::Inner)
      size *= dist::Factor{factor.size, axes}.localSize();
  return size;
}

/// Appends one dim to the tensor that `reshard` describes. A reshard is a
/// change of the sharding of a tensor. Before the reshard, each rank along the
/// mesh axes `axes` has `perPart` elements of the new dim. After the reshard,
/// each rank has the whole dim. Example with 4 ranks along `axes` and `perPart`
/// = 3: the new dim has 4 · 3 = 12 elements.
static void addParts(InnerReshard &reshard, int64_t perPart,
                     const dist::SubAxes &axes) {
  int64_t parts = dist::numParts(axes);
  reshard.shape.push_back(parts * perPart);
  reshard.to.dims.emplace_back();
  reshard.from.dims.push_back({{{parts, axes}, {perPart, {}}}});
}

/// Returns one reshard (change of sharding) that ranks need while `op` runs.
/// Each rank along `axes` has computed a tensor from its part of the operand,
/// such as the row maxima of a softmax. `value` describes this tensor. After
/// the reshard, each rank has the combination of the tensors of all ranks. The
/// kind `value.kind` selects the collective: an all-gather for Inner, or an
/// all-reduce for Sum, Max, Min and Prod. For example, 2 ranks with the maxima
/// 5 and 3 of a row both have 5 after the reshard.
static InnerReshard reshardOf(const ShardedOp &op,
                              const graph::ShardingRule::InnerValue &value,
                              const dist::SubAxes &axes) {
  dist::Sharding sharding = op.tensorSharding(value.dims);
  InnerReshard reshard{sharding, sharding, {}, value.elementBytes};
  for (const auto &dim : value.dims) {
    int64_t size = 1;
    for (int factor : dim)
      size *= op.rule->factors[factor].size;
    reshard.shape.push_back(size);
  }
  if (value.kind == FactorKind::Inner)
    addParts(reshard, std::min(value.perPart, largestPart(op)), axes);
  else
    for (const dist::SubAxis &axis : axes)
      reshard.from.partials.push_back({axis, reductionOf(value.kind)});
  reshard.from = canonical(reshard.from);
  reshard.to = canonical(reshard.to);
  return reshard;
}

SmallVector<InnerReshard, 2> pcc::shard::innerReshards(const ShardedOp &op) {
  SmallVector<InnerReshard, 2> reshards = ringReshards(op);
  dist::SubAxes axes = op.innerAxes();
  if (!axes.empty())
    for (const auto &value : op.rule->innerValues)
      reshards.push_back(reshardOf(op, value, axes));
  return reshards;
}

plan::Cost pcc::shard::innerCost(const ShardedOp &op,
                                 plan::ReshardPlanner &planner) {
  plan::Cost cost;
  for (const InnerReshard &reshard : innerReshards(op)) {
    const plan::ReshardPlan &plan = planner.plan(
        reshard.from, reshard.to, reshard.shape, reshard.elementBytes);
    cost += costOf(plan, planner);
  }
  return cost;
}

/// Multiplies the sizes that the dims of the tensor `value` have on one rank,
/// and returns the product. `sharding` is the sharding of the tensor. The dims
/// before dim number `begin` are left out. Example: the part of one rank has
/// the shape [2, 4, 8], and `begin` is 1. The result is 4 · 8 = 32.
static double localElements(const dist::Sharding &sharding, Value value,
                            size_t begin = 0) {
  double elements = 1;
  for (auto [i, size] : llvm::enumerate(graph::tensorType(value).getShape()))
    if (i >= begin)
      elements *= dist::localDim(sharding.dims[i], size);
  return elements;
}

/// Adds up the bytes that three tensors of the attention `op` have on one rank:
/// the scores, the keys and the values. A score is the product of one query and
/// one key. The shapes for S queries and T keys are
///
///   queries   [batch, heads, S, depth]
///   keys      [batch, key heads, T, depth]
///   values    [batch, key heads, T, width]
///   scores    [batch, heads, S, T]
///
/// The elements of all three tensors count as many bytes as those of the keys.
double pcc::shard::workspaceBytes(const ShardedOp &op) {
  auto attention = dyn_cast_or_null<graph::AttentionOp>(op.op);
  if (!attention)
    return 0;
  const dist::Sharding query = op.operandSharding(0),
                       key = op.operandSharding(1);
  const Value queries = attention.getQuery(), keys = attention.getKey();
  const double depth = localElements(query, queries, 3);
  const double scores = localElements(query, queries) / depth *
                        localElements(key, keys, 2) / depth;
  return (scores + localElements(key, keys) +
          localElements(op.operandSharding(2), attention.getValue())) *
         static_cast<double>(graph::elementBytes(graph::tensorType(keys)));
}
