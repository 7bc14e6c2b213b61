//===- InnerExchanges.cpp - communication among the parts of one split op -===//

#include "passes/4-shard/graph/InnerExchanges.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/4-shard/graph/Pricing.h"
#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns the number of elements of the largest shard of the loop dim of `op`
/// that has the kind FactorKind::Inner. Ranks that split such a loop dim
/// exchange intermediate results while `op` runs, such as the row maxima of a
/// softmax. If `op` has several such loop dims, returns the product of the
/// numbers.
static int64_t largestPart(const ShardedOp &op) {
  int64_t size = 1;
  for (auto [factor, axes] : llvm::zip_equal(op.rule->factors, op.axes))
    if (factor.kind == FactorKind::Inner)
      size *= dist::Factor{factor.size, axes}.localSize();
  return size;
}

/// Appends a dim to the tensor that `reshard` describes. The dim has `perPart`
/// elements for each rank along `axes`. Before the reshard, each rank has only
/// its own `perPart` elements. After the reshard, each rank has all elements of
/// the dim.
static void addParts(InnerReshard &reshard, int64_t perPart,
                     const dist::SubAxes &axes) {
  int64_t parts = dist::numParts(axes);
  reshard.shape.push_back(parts * perPart);
  reshard.to.dims.emplace_back();
  reshard.from.dims.push_back({{{parts, axes}, {perPart, {}}}});
}

/// Returns the collective that combines an intermediate tensor over `axes`
/// while `op` runs, such as the row maxima of a softmax. `value` describes the
/// tensor. The collective is an all-gather if `value.kind` is
/// FactorKind::Inner. Otherwise `value.kind` is a reduction, such as Max, and
/// the collective is an all-reduce.
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

/// Returns the number of elements of one rank's shard of `value`, counted over
/// the dims from `begin` on. `sharding` is the sharding of `value`. For
/// example, if the shard has the shape [2, 8, 64] and `begin` is 1, the result
/// is 8 · 64 = 512.
static double localElements(const dist::Sharding &sharding, Value value,
                            size_t begin = 0) {
  double elements = 1;
  for (auto [i, size] : llvm::enumerate(graph::tensorType(value).getShape()))
    if (i >= begin)
      elements *= dist::localDim(sharding.dims[i], size);
  return elements;
}

/// If `op` is an attention, returns the bytes that its scores, keys and values
/// need on one rank. Every element counts with the element size of the keys.
/// Returns 0 for any other op.
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
