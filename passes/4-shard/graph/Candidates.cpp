//===- Candidates.cpp - ways in which one more axis can split an op -------===//

#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns whether a split of a loop dim of the kind `kind` conflicts with a
/// reduction over ranks that the result of `op` already needs. Sum, Max, Min
/// and Prod conflict with a split loop dim of another of these four kinds. Max,
/// Min, Prod and Inner conflict with an operand that is a partial sum.
static bool mixesReductions(const ShardedOp &op, FactorKind kind) {
  if (kind == FactorKind::Inner)
    return !op.through.empty();
  if (!isReduction(kind))
    return false;
  for (auto [factor, split] : llvm::zip_equal(op.rule->factors, op.axes))
    if (!split.empty() && isReduction(factor.kind) && factor.kind != kind)
      return true;
  return kind != FactorKind::Sum && !op.through.empty();
}

SmallVector<Strategy> pcc::shard::strategiesOf(const ShardedOp &op) {
  SmallVector<Strategy> strategies{{Strategy::Replicate, -1}};
  const auto ring = ringOf(op);
  const bool isRing = !ringAxes(op).empty();
  for (auto [i, factor] : llvm::enumerate(op.rule->factors))
    if (factor.kind != FactorKind::Whole && !mixesReductions(op, factor.kind) &&
        !(isRing &&
          llvm::is_contained(op.rule->operands[0][2], static_cast<int>(i))))
      strategies.push_back({Strategy::Split, static_cast<int>(i)});
  if (ring && !isRing && op.axes[ring->queries].empty() && op.through.empty())
    strategies.push_back({Strategy::Ring, ring->queries});
  if (op.rule->partialThrough.empty() || op.rule->results.empty() ||
      !op.innerAxes().empty() || mixesReductions(op, FactorKind::Sum))
    return strategies;
  if (op.rule->partialTogether)
    strategies.push_back({Strategy::Through, -1});
  else
    for (int operand : op.rule->partialThrough)
      strategies.push_back({Strategy::Through, operand});
  return strategies;
}

namespace {
/// One way to split a loop dim of an op over sub-axes of one mesh axis. For
/// example, tp:(1)2 and tp:(2)2 are the sub-axes of an axis tp of size 4.
struct FillMode {
  /// Whether the loop dim may be split over more ranks than it has elements.
  bool overfill = false;
  /// Whether to insert the sub-axes before (major to) an axis that already
  /// splits the dim, if a sharding of the user has this order. For example,
  /// [8@tp+dp] has tp before dp. If false, the sub-axes come last (minor).
  bool reorder = false;
  /// Range of the sub-axes that may split the dim, as indices into the list of
  /// the sub-axes of the mesh axis: `first` to `end` - 1.
  size_t first = 0, end = SIZE_MAX;
};
} // namespace

/// Splits the loop dim `factor` of `op` (Shardy's factor) over sub-axes in
/// `parts`, from the front. Stops when the loop dim is split over as many ranks
/// as it has elements, or when a further sub-axis would exceed this number.
/// Only the first sub-axis of `parts` may exceed it. If `how.overfill` is true,
/// the function uses all sub-axes. Returns the number of sub-axes used. Does
/// not read `how.first` and `how.end`.
static size_t fill(ShardedOp &op, ArrayRef<dist::SubAxis> parts, int factor,
                   const Seeds &seeds, FillMode how) {
  dist::SubAxes &axes = op.axes[factor];
  const int64_t size = op.rule->factors[factor].size;
  auto place = axes.end();
  if (how.reorder)
    place = llvm::find_if(axes, [&](const dist::SubAxis &other) {
      return seeds.isBefore(parts.front().axis, other.axis);
    });
  size_t at = place - axes.begin(), used = 0;
  // The first sub-axis may give more ranks than the loop dim has elements: 5
  // ranks may split 3 elements. A further sub-axis must not.
  for (const dist::SubAxis &part : parts) {
    int64_t before = dist::numParts(axes), after = before * part.size;
    bool isFull = before >= size || (used > 0 && after > size);
    if (isFull && !how.overfill)
      break;
    axes.insert(axes.begin() + at + used, part);
    ++used;
  }
  return used;
}

/// Returns ways to split the loop dim `factor` of `op` over `parts`, the
/// sub-axes of one mesh axis. A user-set sharding in `seeds` can add three
/// kinds of ways: over only some of the sub-axes, over more ranks than
/// elements, or with another order of the mesh axes that split the dim.
static SmallVector<FillMode, 4> fillingsOf(const ShardedOp &op,
                                           ArrayRef<dist::SubAxis> parts,
                                           int factor, const Seeds &seeds) {
  SmallVector<FillMode, 4> fillings{{}};
  const int64_t size = op.rule->factors[factor].size;
  // A user-set sharding may name a sub-axis. For example, tp:(1)2 cuts the axis
  // tp of size 4 into tp:(1)2 and tp:(2)2. `cuts` has these cuts as indices
  // into `parts`, and the ends of the axis: 0, 1 and 2 in the example. Each
  // pair of them gives a filling that uses only the sub-axes between them: only
  // tp:(1)2, or only tp:(2)2. The filling with all of `parts` is there already.
  SmallVector<size_t, 4> cuts{0};
  for (auto [i, part] : llvm::enumerate(parts))
    if (seeds.cutsAt(part.axis, part.end()))
      cuts.push_back(i + 1);
  for (size_t i = 0; i < cuts.size(); ++i)
    for (size_t j = i + 1; j < cuts.size(); ++j)
      if (cuts[i] > 0 || cuts[j] < parts.size())
        fillings.push_back({.first = cuts[i], .end = cuts[j]});
  int64_t all = dist::numParts(op.axes[factor]);
  for (const dist::SubAxis &part : parts)
    all *= part.size;
  if (all > size && seeds.overfills(size))
    fillings.push_back({.overfill = true});
  if (llvm::any_of(op.axes[factor], [&](const dist::SubAxis &other) {
        return seeds.isBefore(parts.front().axis, other.axis);
      }))
    for (FillMode filling : SmallVector<FillMode, 4>(fillings)) {
      filling.reorder = true;
      fillings.push_back(filling);
    }
  return fillings;
}

/// Returns whether some dim of an operand or result is a product in which the
/// loop dim `minor` comes directly after `major`. In a reshape from [12, 64] to
/// [768], the dim of size 768 is 12 · 64.
static bool areNeighbours(const RefinedRule &rule, int major, int minor) {
  return llvm::any_of(
      llvm::concat<const graph::ShardingRule::TensorFactors>(rule.operands,
                                                             rule.results),
      [&](const graph::ShardingRule::TensorFactors &tensor) {
        return llvm::any_of(tensor, [&](ArrayRef<int> dim) {
          return std::adjacent_find(dim.begin(), dim.end(), [&](int a, int b) {
                   return a == major && b == minor;
                 }) != dim.end();
        });
      });
}

/// Returns the loop dims of an op that the remaining sub-axes of a mesh axis
/// can split if the loop dim `first` has too few elements for all sub-axes.
/// These are the loop dims that `strategies` may split, without `first`. If
/// `mixesDims` is false, they are only the loop dims that come directly after
/// `first` in a dim of a tensor, such as 64 after 12 in 12 · 64.
static SmallVector<int> factorsBehind(const RefinedRule &rule, int first,
                                      ArrayRef<Strategy> strategies,
                                      bool mixesDims) {
  SmallVector<int> factors;
  for (const Strategy &other : strategies)
    if (other.kind == Strategy::Split && other.index != first &&
        (mixesDims || areNeighbours(rule, first, other.index)))
      factors.push_back(other.index);
  return factors;
}

/// Appends copies of `op` in which the sub-axes in `parts` split loop dims. In
/// each copy, the first sub-axes split one loop dim of `others`. If this loop
/// dim has too few elements for all sub-axes, the remaining ones must split the
/// next loop dim of the same tensor dim. For example, 64 comes next after 12 in
/// a dim of size 12 · 64.
static void addRest(const ShardedOp &op, ArrayRef<dist::SubAxis> parts,
                    ArrayRef<int> others, ArrayRef<Strategy> strategies,
                    const Seeds &seeds,
                    SmallVectorImpl<ShardedOp> &candidates) {
  for (int other : others) {
    ShardedOp both(op);
    const size_t used = fill(both, parts, other, seeds, {});
    if (used == parts.size()) {
      candidates.push_back(std::move(both));
      continue;
    }
    if (used == 0)
      continue;
    SmallVector<int> next =
        factorsBehind(*op.rule, other, strategies, /*mixesDims=*/false);
    llvm::erase_if(next, [&](int factor) {
      return dist::holdsAxis(both.axes[factor], parts.front().axis);
    });
    addRest(both, parts.drop_front(used), next, strategies, seeds, candidates);
  }
}

/// Appends a copy of `op` in which only the loop dim `factor` is split over
/// sub-axes of one mesh axis (`parts`), as many as fit. If not all sub-axes
/// fit, also appends copies in which the remaining sub-axes split loop dims in
/// `others`. Appends nothing if not even the first sub-axis fits.
static void addSplits(const ShardedOp &op, ArrayRef<dist::SubAxis> parts,
                      int factor, FillMode how, ArrayRef<int> others,
                      ArrayRef<Strategy> strategies, const Seeds &seeds,
                      SmallVectorImpl<ShardedOp> &candidates) {
  ShardedOp candidate(op);
  ArrayRef<dist::SubAxis> own = parts.take_front(how.end).drop_front(how.first);
  size_t used = fill(candidate, own, factor, seeds, how);
  if (used == 0)
    return;
  candidates.push_back(candidate);
  ArrayRef<dist::SubAxis> rest = parts.drop_front(how.first + used);
  if (!rest.empty())
    addRest(candidate, rest, others, strategies, seeds, candidates);
}

/// Appends a copy of the attention `op` that computes ring attention over all
/// of `parts`, the sub-axes of one mesh axis. Appends none if there are too few
/// tokens for all sub-axes (see fill()).
static void addRing(const ShardedOp &op, ArrayRef<dist::SubAxis> parts,
                    const Seeds &seeds,
                    SmallVectorImpl<ShardedOp> &candidates) {
  const Ring ring = *ringOf(op);
  ShardedOp candidate(op);
  if (fill(candidate, parts, ring.queries, seeds, {}) < parts.size())
    return;
  candidate.axes[ring.keys] = candidate.axes[ring.queries];
  candidates.push_back(std::move(candidate));
}

SmallVector<ShardedOp, 0> pcc::shard::candidatesOf(
    const ShardedOp &op, ArrayRef<dist::SubAxis> parts, const Seeds &seeds,
    llvm::function_ref<bool(const Strategy &)> may, bool mixesDims) {
  SmallVector<ShardedOp, 0> candidates;
  SmallVector<Strategy> strategies = strategiesOf(op);
  llvm::erase_if(strategies, [&](const Strategy &s) { return !may(s); });
  for (const Strategy &strategy : strategies) {
    if (strategy.kind == Strategy::Split) {
      const SmallVector<int> others =
          factorsBehind(*op.rule, strategy.index, strategies, mixesDims);
      for (FillMode how : fillingsOf(op, parts, strategy.index, seeds))
        addSplits(op, parts, strategy.index, how, others, strategies, seeds,
                  candidates);
      continue;
    }
    if (strategy.kind == Strategy::Ring) {
      addRing(op, parts, seeds, candidates);
      continue;
    }
    ShardedOp candidate(op);
    for (const dist::SubAxis &part : parts)
      candidate = candidate.with(part, strategy);
    candidates.push_back(std::move(candidate));
  }
  // Some ops read only a window of an operand, such as the slice x[64:128].
  // Append each candidate once more with `usesAllWindows`: a rank then receives
  // only elements that the op reads.
  if (llvm::any_of(op.rule->windows,
                   [](const auto &window) { return window.narrows; }) &&
      !op.usesAllWindows)
    for (ShardedOp candidate : SmallVector<ShardedOp, 0>(candidates)) {
      candidate.usesAllWindows = true;
      candidates.push_back(std::move(candidate));
    }
  return candidates;
}

/// Returns the overlap of `axes` with `decided`, the sub-axes that the search
/// has already assigned. For an axis tp of size 4 in `axes`, and its sub-axis
/// tp:(1)2 in `decided`, the result is tp:(1)2.
static dist::SubAxes decidedOf(const dist::SubAxes &axes,
                               const dist::SubAxes &decided) {
  dist::SubAxes kept;
  for (const dist::SubAxis &axis : axes)
    for (const dist::SubAxis &other : decided)
      if (auto both = dist::overlap(axis, other))
        kept.push_back(*both);
  return kept;
}

/// Pairs the loop dims in the tensor dim `dim` of `rule` with the factors of
/// the sharding `split` that contain them. Example: `dim` is 3 · 4 · 2, and the
/// sharding divides 12 · 2. The pairs have the sizes (3, 12), (4, 12) and
/// (2, 2), because 3 · 4 = 12.
static SmallVector<std::pair<int, dist::Factor>>
factorsLike(const RefinedRule &rule, ArrayRef<int> dim,
            const dist::DimSharding &split) {
  SmallVector<std::pair<int, dist::Factor>> pairs;
  for (const dist::Factor &factor : split.factors) {
    int64_t covered = 1;
    do {
      if (dim.empty())
        return pairs;
      pairs.push_back({dim.front(), factor});
      covered *= rule.factors[dim.front()].size;
      dim = dim.drop_front();
    } while (covered < factor.size);
  }
  return pairs;
}

/// Returns a copy of `op` with other splits of the first result:
///
/// - The sub-axes in `decided` that the user-set sharding `seed` uses split the
///   result as in `seed`. All other sub-axes in `seed` split nothing.
/// - The axis `mb`, and axes that `seed` does not use, split the same loop dims
///   as in `op`.
///
/// If the op has no results, the function changes the splits of the first
/// operand instead.
static ShardedOp splitLike(const ShardedOp &op, const dist::Sharding &seed,
                           const dist::SubAxes &decided) {
  ShardedOp next(op);
  const auto &dims =
      op.rule->results.empty() ? op.rule->operands[0] : op.rule->results[0];
  const dist::SubAxes wanted = dist::splitAxes(seed);
  auto isWanted = [&](const dist::SubAxis &axis) {
    return llvm::any_of(wanted, [&](const dist::SubAxis &other) {
      return dist::overlaps(axis, other);
    });
  };
  for (auto [dim, split] : llvm::zip_equal(dims, seed.dims))
    for (const auto &[factor, as] : factorsLike(*op.rule, dim, split)) {
      dist::SubAxes axes;
      for (const dist::SubAxis &axis : op.axes[factor])
        if (axis.axis == dist::timeAxis)
          axes.push_back(axis);
      llvm::append_range(axes, decidedOf(as.axes, decided));
      for (const dist::SubAxis &axis : op.axes[factor])
        if (axis.axis != dist::timeAxis && !isWanted(axis))
          axes.push_back(axis);
      next.axes[factor] = std::move(axes);
    }
  return next;
}

SmallVector<ShardedOp, 0> pcc::shard::pinnedCandidatesOf(
    const ShardedOp &op, ArrayRef<dist::SubAxis> parts,
    const dist::Sharding &seed, const dist::SubAxes &decided,
    llvm::function_ref<bool(const Strategy &)> may) {
  const ShardedOp forced = splitLike(op, seed, decided);
  SmallVector<ShardedOp, 0> candidates{forced};
  const bool inTime = parts.front().axis == dist::timeAxis;
  // Add no other candidates if `seed`, which the user sets, uses the mesh axis
  // of `parts` or a sub-axis of it. The op must then use the axis exactly as in
  // `seed`, and `forced` does so.
  if (llvm::any_of(dist::splitAxes(seed), [&](const dist::SubAxis &axis) {
        return axis.axis == parts.front().axis;
      }))
    return candidates;
  const auto &dims =
      op.rule->results.empty() ? op.rule->operands[0] : op.rule->results[0];
  for (auto [dim, wanted] : llvm::zip_equal(dims, seed.dims))
    for (int factor : dim) {
      const bool isFree = inTime || (wanted.open && wanted.factors.empty());
      if (!isFree || !may({Strategy::Split, factor}))
        continue;
      ShardedOp candidate(forced);
      if (fill(candidate, parts, factor, Seeds(), {}) > 0)
        candidates.push_back(std::move(candidate));
    }
  return candidates;
}
