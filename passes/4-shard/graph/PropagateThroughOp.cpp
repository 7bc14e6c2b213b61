//===- PropagateThroughOp.cpp - sharding propagation through one op -------===//

#include "passes/4-shard/graph/PropagateThroughOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;
using DimFactors = graph::ShardingRule::DimFactors;

/// Returns whether no loop dim of `op` is split over an axis that overlaps one
/// of `axes`.
static bool isFree(const ShardedOp &op, const dist::SubAxes &axes) {
  return llvm::none_of(op.axes, [&](const dist::SubAxes &used) {
    return llvm::any_of(used, [&](const dist::SubAxis &one) {
      return llvm::any_of(axes, [&](const dist::SubAxis &other) {
        return dist::overlaps(one, other);
      });
    });
  });
}

/// Splits a loop dim (Shardy's factor) of `op` over `axes`. `covering` lists
/// adjacent loop dims, which together form one factor of a tensor dim. The
/// function splits the first of them, the major one. Does nothing in these
/// cases:
///
/// - This loop dim is already split.
/// - Another loop dim of `op` is split over an axis that overlaps `axes`.
/// - This loop dim has the kind Whole (must not be split) or Inner (a split
///   needs communication inside of the op).
/// - `covering` has several loop dims, and the size of the first one is no
///   multiple of the number of ranks along `axes`.
static void give(ShardedOp &op, ArrayRef<int> covering,
                 const dist::SubAxes &axes) {
  const auto &major = op.rule->factors[covering.front()];
  bool fits = covering.size() == 1 || major.size % dist::numParts(axes) == 0;
  bool mayTake =
      major.kind != FactorKind::Whole && major.kind != FactorKind::Inner;
  if (fits && mayTake && op.axes[covering.front()].empty() && isFree(op, axes))
    op.axes[covering.front()] = axes;
}

/// Splits the dim `dim` of `op` as `sharding` splits a dim of the same size.
/// `dim` lists the loop dims (Shardy's factors) of the dim, major first. Stops
/// at the first factor of `sharding` that is no product of sizes of loop dims.
/// In these examples, `12@t` is a factor of size 12 that is split over the mesh
/// axis t:
///
///   12@t, 5  on the loop dims  3, 4, 5   gives  3@t, 4, 5
///   12@t, 10 on the loop dims  3, 8, 5   gives  3, 8, 5
static void followDim(ShardedOp &op, ArrayRef<int> dim,
                      const dist::DimSharding &sharding) {
  for (const dist::Factor &factor : sharding.factors) {
    size_t count = 0;
    int64_t covered = 1;
    while (covered < factor.size && count < dim.size())
      covered *= op.rule->factors[dim[count++]].size;
    if (covered != factor.size)
      return;
    if (count > 0 && !factor.axes.empty())
      give(op, dim.take_front(count), factor.axes);
    dim = dim.drop_front(count);
  }
}

/// Splits `op` in the way in which `sharding` splits one of its operands or
/// results. `tensor` lists the loop dims (Shardy's factors) of each dim of this
/// tensor.
static void followTensor(ShardedOp &op,
                         const graph::ShardingRule::TensorFactors &tensor,
                         const dist::Sharding &sharding) {
  for (auto [dim, split] : llvm::zip_equal(tensor, sharding.dims))
    followDim(op, dim, split);
}

ShardedOp pcc::shard::propagateFromOperands(Operation *op,
                                            ArrayRef<dist::Sharding> operands) {
  auto rule = std::make_shared<RefinedRule>(ruleOf(op));
  for (auto [i, sharding] : llvm::enumerate(operands))
    refineLike(*rule, rule->operands[i], sharding);
  ShardedOp result(op, rule);
  for (auto [tensor, sharding] : llvm::zip_equal(rule->operands, operands))
    followTensor(result, tensor, sharding);
  return result;
}

ShardedOp pcc::shard::propagateFromResult(Operation *op,
                                          const dist::Sharding &sharding) {
  auto rule = std::make_shared<RefinedRule>(ruleOf(op));
  refineLike(*rule, rule->results[0], sharding);
  ShardedOp result(op, rule);
  followTensor(result, rule->results[0], sharding);
  return result;
}
