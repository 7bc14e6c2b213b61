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

/// Splits `op` over `axes`, because these axes split one factor (dim, or part
/// of a dim) of an operand or result. `covering` lists the factors of `op` that
/// together form this factor. The first of them is split:
///
///   operand 12@t, t has 3 ranks, `covering` 6 and 2:   op 6@t, 2
///
/// Does nothing in these cases:
///
/// - `covering` has several factors, and the number of ranks does not divide
///   the first one.
/// - The first factor is split already, or may not be split (kind Whole), or
///   its parts would have to exchange values (kind Inner).
/// - `op` uses one of the axes already.
static void give(ShardedOp &op, ArrayRef<int> covering,
                 const dist::SubAxes &axes) {
  const auto &major = op.rule->factors[covering.front()];
  bool fits = covering.size() == 1 || major.size % dist::numParts(axes) == 0;
  bool mayTake =
      major.kind != FactorKind::Whole && major.kind != FactorKind::Inner;
  if (fits && mayTake && op.axes[covering.front()].empty() && isFree(op, axes))
    op.axes[covering.front()] = axes;
}

/// Splits one dim of `op`, which has the factors (parts) `dim`, as `sharding`
/// splits this dim of a tensor. A factor of the sharding may consist of several
/// factors of the op, major first. The first of these is then split:
///
///   factors of the op   factors of the sharding   split
///   3, 4, 5             12@t, 5                   3@t, because 12 = 3 · 4
///   3, 8, 5             12@t, 10                  none, because 3 · 8 > 12
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
