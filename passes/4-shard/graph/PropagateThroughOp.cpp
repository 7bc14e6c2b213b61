//===- PropagateThroughOp.cpp - sharding propagation through one op -------===//

#include "passes/4-shard/graph/PropagateThroughOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;
using DimFactors = graph::ShardingRule::DimFactors;

/// Returns whether no factor (dim, or part of a dim) of `op` is split over an
/// axis that overlaps one of `axes`.
static bool isFree(const ShardedOp &op, const dist::SubAxes &axes) {
  return llvm::none_of(op.axes, [&](const dist::SubAxes &used) {
    return llvm::any_of(used, [&](const dist::SubAxis &one) {
      return llvm::any_of(axes, [&](const dist::SubAxis &other) {
        return dist::overlaps(one, other);
      });
    });
  });
}

/// Splits the first factor in `covering` over the mesh axes `axes`. A factor is
/// a dim, or part of a dim. `covering` lists consecutive factors of one dim of
/// `op`, major first. For example, an axis of 3 ranks splits 12 elements in the
/// sharding of an operand. If `covering` has the factors 6 and 2, the axis
/// splits the factor 6. Does nothing if `covering` has several factors and the
/// ranks do not divide the first one evenly, if this factor is split already or
/// has the kind Whole or Inner (its split is forbidden or needs communication),
/// or if `op` uses one of `axes` already.
static void give(ShardedOp &op, ArrayRef<int> covering,
                 const dist::SubAxes &axes) {
  const auto &major = op.rule->factors[covering.front()];
  bool fits = covering.size() == 1 || major.size % dist::numParts(axes) == 0;
  bool mayTake =
      major.kind != FactorKind::Whole && major.kind != FactorKind::Inner;
  if (fits && mayTake && op.axes[covering.front()].empty() && isFree(op, axes))
    op.axes[covering.front()] = axes;
}

/// Splits one dim of a tensor of `op` over the axes that split it in
/// `sharding`. A factor is part of a dim, and `dim` lists those of `op`. For
/// each factor of `sharding`, the next factors of `op` with the same product
/// are searched. The first one is split (see `give`). If the products never
/// match, the function stops. Examples in which the axis t splits 12 elements:
///
///   factors of `sharding`   factors of `op`   result
///   12@t, 5                 3, 4, 5           3@t, 4, 5 (12 = 3 · 4)
///   12@t, 10                3, 8, 5           3, 8, 5 (3 · 8 is not 12)
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
/// results. `tensor` lists the factors (dims, or parts of dims) of this tensor.
static void followTensor(ShardedOp &op,
                         const graph::ShardingRule::TensorFactors &tensor,
                         const dist::Sharding &sharding) {
  for (auto [dim, split] : llvm::zip_equal(tensor, sharding.dims))
    followDim(op, dim, split);
}

/// Marks the results of `op` as partial sums along each axis along which an
/// operand is a partial sum. A partial sum is a value of which each rank has
/// one addend. The function considers only operands in which the op is linear.
/// For example, if the operand of a transpose is a partial sum along tp, the
/// result is a partial sum along tp. `operands` are the shardings of the
/// operands.
static void passPartials(ShardedOp &op, ArrayRef<dist::Sharding> operands) {
  for (int operand : op.rule->partialThrough)
    for (const dist::Partial &partial : operands[operand].partials)
      if (!llvm::is_contained(op.through, partial.axis)) {
        op.through.push_back(partial.axis);
        op.throughOperand.push_back(op.rule->partialTogether ? -1 : operand);
      }
}

ShardedOp pcc::shard::propagateFromOperands(Operation *op,
                                            ArrayRef<dist::Sharding> operands,
                                            bool partialsPass) {
  auto rule = std::make_shared<RefinedRule>(ruleOf(op));
  for (auto [i, sharding] : llvm::enumerate(operands))
    refineLike(*rule, rule->operands[i], sharding);
  ShardedOp result(op, rule);
  for (auto [tensor, sharding] : llvm::zip_equal(rule->operands, operands))
    followTensor(result, tensor, sharding);
  if (partialsPass)
    passPartials(result, operands);
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
