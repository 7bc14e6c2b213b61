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

/// Splits the first factor (dim, or part of a dim) in `covering` over `axes`.
/// The factors in `covering` together correspond to one factor of a tensor's
/// sharding, which is split over `axes`. Does nothing in three cases:
///
/// - There are several factors, and the size of the first one is not a multiple
///   of the number of parts.
/// - The first factor is of kind Whole or Inner.
/// - The first factor is split already, or `op` uses one of the axes already.
static void give(ShardedOp &op, ArrayRef<int> covering,
                 const dist::SubAxes &axes) {
  const auto &major = op.rule->factors[covering.front()];
  bool fits = covering.size() == 1 || major.size % dist::numParts(axes) == 0;
  bool mayTake =
      major.kind != FactorKind::Whole && major.kind != FactorKind::Inner;
  if (fits && mayTake && op.axes[covering.front()].empty() && isFree(op, axes))
    op.axes[covering.front()] = axes;
}

/// Splits the factors (parts) of one dim of `op` over the axes that split the
/// equal factors in `sharding`. Compares both lists of factors from major to
/// minor. Stops at the first factor of `sharding` that does not end where a
/// factor of the rule ends.
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

/// Splits the factors (dims, or parts of dims) of `tensor`, an operand or
/// result of `op`, over the axes that split them in `sharding`; see followDim.
static void followTensor(ShardedOp &op,
                         const graph::ShardingRule::TensorFactors &tensor,
                         const dist::Sharding &sharding) {
  for (auto [dim, split] : llvm::zip_equal(tensor, sharding.dims))
    followDim(op, dim, split);
}

/// Lets the partial sums of all operands pass through the op if its rule allows
/// that.
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
