//===- ShardedOp.cpp - sharding rule of one op and the axes that split it -===//

#include "passes/4-shard/graph/ShardedOp.h"
#include "dialects/graph/rules/RuleBuilders.h"

#include <cassert>
#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

RefinedRule::RefinedRule(graph::ShardingRule rule)
    : graph::ShardingRule(std::move(rule)) {
  for (size_t i = 0; i < factors.size(); ++i)
    parts.push_back({static_cast<int>(i)});
}

/// Inserts the loop dims `more` into `list`, the loop dims of a tensor dim,
/// right after the first occurrence of loop dim `id`. Does nothing if `list`
/// does not contain `id`.
static void insertBehind(graph::ShardingRule::DimFactors &list, int id,
                         ArrayRef<int> more) {
  for (auto it = list.begin(); it != list.end(); ++it)
    if (*it == id) {
      list.insert(it + 1, more.begin(), more.end());
      return;
    }
}

void RefinedRule::refine(int id, ArrayRef<int64_t> sizes) {
  assert(std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>()) == factors[id].size &&
         "the parts do not form the factor");
  // The new loop dims have the kind and the flags of the loop dim that is cut.
  factors[id].size = sizes.front();
  SmallVector<int> more;
  for (int64_t size : sizes.drop_front()) {
    RuleFactor part = factors[id];
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
  for (InnerValue &value : innerValues)
    insert(value.dims);
  for (DimFactors &list : parts)
    insertBehind(list, id, more);
}

ShardedOp::ShardedOp(Operation *op, std::shared_ptr<const RefinedRule> shared)
    : op(op), rule(std::move(shared)), axes(rule->factors.size()) {}

ShardedOp ShardedOp::with(const dist::SubAxis &axis,
                          const Strategy &strategy) const {
  assert(strategy.kind != Strategy::Ring && "a ring changes two factors");
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

bool ShardedOp::uses(const graph::ShardingRule::Window &window) const {
  return usesAllWindows ||
         (!window.optional &&
          llvm::any_of(rule->results[0][window.dim],
                       [&](int factor) { return !axes[factor].empty(); }));
}

/// Returns the sharding of the operand dim that `window` describes. The member
/// `view` of the result lists the operand elements that each rank needs. For a
/// convolution, these elements include elements of neighbor ranks (halo).
dist::DimSharding
ShardedOp::windowSharding(const graph::ShardingRule::Window &window) const {
  int64_t dimSize = 1;
  for (int factor : rule->operands[window.operand][window.dim])
    dimSize *= rule->factors[factor].size;
  dist::DimSharding dim;
  dist::View &view = dim.view.emplace();
  for (int factor : rule->results[0][window.dim])
    dim.factors.push_back({rule->factors[factor].size, axes[factor]});
  if (window.extent == 0) {
    int64_t length = 1;
    for (const dist::Factor &factor : dim.factors)
      length *= factor.size;
    view = {1, length, 0, dimSize, {}};
    for (const auto &[lo, hi, source, step] : window.stretches)
      view.pieces.push_back({lo, hi, source, step});
    return dim;
  }
  const dist::Factor split = dim.factors.front();
  const auto &[lo, hi, source, step] = window.stretches.front();
  view.blocks = split.numParts();
  view.length = (split.localSize() - 1) * step + window.extent;
  view.pitch = split.localSize() * step;
  // No rank reads an element with an index of `view.limit` or more. Without
  // this limit, the last rank would also read elements that are needed only to
  // compute the padding of its result shard.
  view.limit = std::max<int64_t>(
      0, std::min(dimSize, source + (split.size - 1) * step + window.extent));
  view.pieces = {{0, view.length, source, 1}};
  dim.factors = {{view.blocks, split.axes}, {view.length, {}}};
  return dim;
}

dist::Sharding ShardedOp::operandSharding(unsigned operand) const {
  dist::Sharding sharding = tensorSharding(rule->operands[operand]);
  for (const auto &window : rule->windows)
    if (window.operand == static_cast<int>(operand) && uses(window))
      sharding.dims[window.dim] = windowSharding(window);
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
  // The axis `mb` (`dist::timeAxis`) splits the batch into microbatches. A
  // `graph.accumulate` adds up the partial sums of all microbatches. Its result
  // is therefore no partial sum along `mb`.
  const bool accumulates = isa_and_nonnull<graph::AccumulateOp>(op);
  for (const dist::SubAxis &axis : through)
    if (!accumulates || axis.axis != dist::timeAxis)
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

bool ShardedOp::isSplitBy(const dist::Axis &axis) const {
  return llvm::any_of(axes, [&](const dist::SubAxes &split) {
    return dist::holdsAxis(split, axis.name);
  });
}

dist::SubAxes ShardedOp::innerAxes() const {
  dist::SubAxes inner;
  for (auto [factor, split] : llvm::zip_equal(rule->factors, axes))
    if (factor.kind == FactorKind::Inner || factor.kind == FactorKind::Whole)
      llvm::append_range(inner, split);
  return inner;
}

graph::ShardingRule pcc::shard::ruleOf(Operation *op) {
  if (auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op))
    return ruled.getShardingRule();
  graph::ShardingRule rule = graph::sameShapeRule(op);
  rule.partialThrough = {0};
  return rule;
}
