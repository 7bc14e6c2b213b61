//===- ShardedOp.cpp - one op's rule and which axes split its factors -----===//

#include "passes/4-shard/ShardedOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

static dist::ReductionKind reductionOf(FactorKind kind) {
  switch (kind) {
  case FactorKind::Max:
    return dist::ReductionKind::Max;
  case FactorKind::Min:
    return dist::ReductionKind::Min;
  case FactorKind::Prod:
    return dist::ReductionKind::Prod;
  default:
    return dist::ReductionKind::Sum;
  }
}

RefinedRule::RefinedRule(graph::ShardingRule rule)
    : graph::ShardingRule(std::move(rule)) {
  for (size_t i = 0; i < factors.size(); ++i)
    parts.push_back({static_cast<int>(i)});
}

/// Puts `more` behind every `id` of a list.
static void insertBehind(graph::ShardingRule::DimFactors &list, int id,
                         ArrayRef<int> more) {
  for (auto it = list.begin(); it != list.end(); ++it)
    if (*it == id) {
      list.insert(it + 1, more.begin(), more.end());
      return;
    }
}

void RefinedRule::refine(int id, ArrayRef<int64_t> sizes) {
  factors[id].size = sizes.front();
  SmallVector<int> more;
  for (int64_t size : sizes.drop_front()) {
    Factor part = factors[id];
    part.size = size;
    more.push_back(factors.size());
    factors.push_back(part);
  }
  auto insert = [&](MutableArrayRef<TensorFactors> tensors) {
    for (TensorFactors &tensor : tensors)
      for (DimFactors &dim : tensor)
        insertBehind(dim, id, more);
  };
  insert(operands);
  insert(results);
  for (DimFactors &list : parts)
    insertBehind(list, id, more);
}

ShardedOp::ShardedOp(Operation *op, std::shared_ptr<const RefinedRule> shared)
    : op(op), rule(std::move(shared)), axes(rule->factors.size()) {}

ShardedOp ShardedOp::with(const dist::SubAxis &axis,
                          const Strategy &strategy) const {
  ShardedOp next(*this);
  if (strategy.kind == Strategy::Split)
    next.axes[strategy.index].push_back(axis);
  if (strategy.kind == Strategy::Through) {
    next.through.push_back(axis);
    next.throughOperand.push_back(strategy.index);
  }
  return next;
}

dist::Sharding ShardedOp::tensorSharding(
    const graph::ShardingRule::TensorFactors &dims) const {
  dist::Sharding sharding = dist::Sharding::whole(dims.size());
  for (auto [dim, factors] : llvm::zip_equal(sharding.dims, dims))
    for (int factor : factors)
      dim.factors.push_back({rule->factors[factor].size, axes[factor]});
  return sharding;
}

dist::Sharding ShardedOp::operandSharding(unsigned operand) const {
  dist::Sharding sharding = tensorSharding(rule->operands[operand]);
  for (auto [axis, which] : llvm::zip_equal(through, throughOperand))
    if (which == static_cast<int>(operand) ||
        (which == -1 &&
         llvm::is_contained(rule->partialThrough, static_cast<int>(operand))))
      sharding.partials.push_back({axis, dist::ReductionKind::Sum});
  return canonical(sharding);
}

dist::Sharding ShardedOp::resultSharding(unsigned result) const {
  dist::Sharding sharding = tensorSharding(rule->results[result]);
  for (auto [factor, split] : llvm::zip_equal(rule->factors, axes))
    if (isReduction(factor.kind))
      for (const dist::SubAxis &axis : split)
        sharding.partials.push_back({axis, reductionOf(factor.kind)});
  for (const dist::SubAxis &axis : through)
    sharding.partials.push_back({axis, dist::ReductionKind::Sum});
  return canonical(sharding);
}

dist::Sharding ShardedOp::split() const {
  dist::Sharding sharding =
      canonical(tensorSharding({rule->parts.begin(), rule->parts.end()}));
  for (const dist::SubAxis &axis : through)
    sharding.partials.push_back({axis, dist::ReductionKind::Sum});
  return sharding;
}

/// Whether a factor has parts left for one more axis: at least two elements
/// must remain on some rank.
static bool splittable(const ShardedOp &op, size_t factor) {
  const auto &f = op.rule->factors[factor];
  return f.kind != FactorKind::Whole &&
         dist::Factor{f.size, op.axes[factor]}.localSize() > 1;
}

/// Different reductions of one op cannot be pending at once.
static bool mixesReductions(const ShardedOp &op, FactorKind kind) {
  if (!isReduction(kind))
    return false;
  for (auto [factor, split] : llvm::zip_equal(op.rule->factors, op.axes))
    if (!split.empty() && isReduction(factor.kind) && factor.kind != kind)
      return true;
  return kind != FactorKind::Sum && !op.through.empty();
}

SmallVector<Strategy> pcc::shard::strategiesOf(const ShardedOp &op,
                                               const dist::SubAxis &axis) {
  SmallVector<Strategy> strategies{{Strategy::Replicate, -1}};
  for (size_t i = 0; i < op.rule->factors.size(); ++i)
    if (splittable(op, i) && !mixesReductions(op, op.rule->factors[i].kind))
      strategies.push_back({Strategy::Split, static_cast<int>(i)});
  if (op.rule->partialThrough.empty() || op.rule->results.empty() ||
      mixesReductions(op, FactorKind::Sum))
    return strategies;
  if (op.rule->partialTogether)
    strategies.push_back({Strategy::Through, -1});
  else
    for (int operand : op.rule->partialThrough)
      strategies.push_back({Strategy::Through, operand});
  return strategies;
}

/// Gives `factor` of `op` as many of `parts` as leave no rank without elements,
/// at least one; returns how many.
static size_t fill(ShardedOp &op, ArrayRef<dist::SubAxis> parts, int factor) {
  size_t used = 0;
  for (const dist::SubAxis &part : parts) {
    int64_t after = dist::numParts(op.axes[factor]) * part.size;
    if (!splittable(op, factor) ||
        (used > 0 && after > op.rule->factors[factor].size))
      break;
    op.axes[factor].push_back(part);
    ++used;
  }
  return used;
}

SmallVector<ShardedOp, 0>
pcc::shard::candidatesOf(const ShardedOp &op, ArrayRef<dist::SubAxis> parts,
                         llvm::function_ref<bool(const Strategy &)> may) {
  SmallVector<ShardedOp, 0> candidates;
  SmallVector<Strategy> strategies = strategiesOf(op, parts.front());
  llvm::erase_if(strategies, [&](const Strategy &s) { return !may(s); });
  for (const Strategy &strategy : strategies) {
    ShardedOp candidate(op);
    if (strategy.kind != Strategy::Split) {
      for (const dist::SubAxis &part : parts)
        candidate = candidate.with(part, strategy);
      candidates.push_back(std::move(candidate));
      continue;
    }
    ArrayRef<dist::SubAxis> rest =
        parts.drop_front(fill(candidate, parts, strategy.index));
    candidates.push_back(candidate);
    for (const Strategy &other : strategies) {
      ShardedOp both(candidate);
      if (!rest.empty() && other.kind == Strategy::Split &&
          other.index != strategy.index &&
          fill(both, rest, other.index) == rest.size())
        candidates.push_back(std::move(both));
    }
  }
  return candidates;
}
