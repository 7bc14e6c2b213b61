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

/// Splits one factor (dim, or part of a dim) of `op` over `axes`. These axes
/// split a factor of an operand or result. The op may divide that factor
/// further: `covering` lists the factors of the op whose sizes have that
/// factor's size as their product, major first. The first factor in `covering`
/// is split. Example with an axis t of size 3, which splits an operand's dim of
/// 12:
///
///   `covering`   before   after
///   6 and 2      6, 2     6@t, 2
///
/// Does nothing in these cases:
///
/// - `covering` has several factors, and the number of ranks along `axes` does
///   not divide the size of the first one.
/// - The first factor is split already.
/// - The first factor has the kind Whole (must not be split) or Inner (ranks
///   would have to exchange values while the op runs).
/// - `op` is already split over a part of `axes`.
static void give(ShardedOp &op, ArrayRef<int> covering,
                 const dist::SubAxes &axes) {
  const auto &major = op.rule->factors[covering.front()];
  bool fits = covering.size() == 1 || major.size % dist::numParts(axes) == 0;
  bool mayTake =
      major.kind != FactorKind::Whole && major.kind != FactorKind::Inner;
  if (fits && mayTake && op.axes[covering.front()].empty() && isFree(op, axes))
    op.axes[covering.front()] = axes;
}

/// Splits one dim of `op` as `sharding` splits this dim of an operand or
/// result. Both divide the dim into factors (parts), major first. `dim` lists
/// the factors of the op. Each factor of `sharding` is compared with the next
/// factors of the op. If the product of their sizes is equal to the size of the
/// factor of `sharding`, the first of them gets the axes. Otherwise the
/// function returns. Example, where 12@t is a factor of 12 that the axis t of
/// size 3 splits:
///
///   factors of the op   factors of `sharding`   new factors of the op
///   3, 4, 5             12@t, 5                 3@t, 4, 5 (12 = 3 · 4)
///   3, 8, 5             12@t, 10                3, 8, 5 (3 · 8 is not 12)
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
