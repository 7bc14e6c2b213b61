//===- Candidates.cpp - ways in which one more axis can split an op -------===//

#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns whether a split of a factor of the kind `kind` is excluded by the
/// splits that `op` already has. A factor is a dim, or part of a dim. After a
/// split of the kind Sum, Max, Min or Prod, each rank has a partial result, so
/// a split of one of these kinds excludes the other three. The kinds Max, Min,
/// Prod and Inner (ranks exchange values while the op runs) are also excluded
/// if an operand is a partial sum (each rank has one addend).
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

SmallVector<Strategy> pcc::shard::strategiesOf(const ShardedOp &op,
                                               const dist::SubAxis &axis) {
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
/// One way to split a factor over sub-axes of one mesh axis. A factor is a dim,
/// or part of a dim. A sub-axis is a part of a mesh axis. For example, the mesh
/// axis tp of size 4 has the sub-axes tp:(1)2 and tp:(2)2. Each of them has
/// size 2.
struct FillMode {
  /// Whether the factor (dim, or part of a dim) may be split over more ranks
  /// than it has elements.
  bool overfill = false;
  /// Whether the sub-axes (parts of a mesh axis) may come before an axis that
  /// already splits the factor (dim, or part of a dim). If false, the sub-axes
  /// come last. If true, a requested sharding can change this. For example, dp
  /// splits the factor already, and the search adds sub-axes of tp. If a
  /// request such as [8@tp+dp] splits some dim first over tp and then over dp,
  /// the sub-axes of tp come before dp. Without this request, they come last.
  bool reorder = false;
  /// Range of the sub-axes that may split the factor (dim, or part of a dim).
  /// A sub-axis is a part of a mesh axis. A mesh axis of size 8 has three
  /// sub-axes of size 2, with the numbers 0, 1 and 2. The sub-axes with the
  /// numbers `first` to `end` - 1 may split the factor. If `first` is 1 and
  /// `end` is 3, the sub-axes 1 and 2 may split the factor. By default, all
  /// sub-axes may split the factor.
  size_t first = 0, end = SIZE_MAX;
};
} // namespace

/// Splits the factor number `factor` of `op` over the first n sub-axes in
/// `parts`, and returns n. A factor is a dim, or part of a dim. `parts` are
/// sub-axes (parts) of one mesh axis. The first is added if the factor has more
/// elements than ranks. A further one is added if the factor then has at least
/// as many elements as ranks. For example, 3 elements take one sub-axis of 5
/// ranks, but only one of two sub-axes of 2 ranks. With `how.overfill`, all
/// sub-axes are added. They come last, or before an axis as `how.reorder`
/// allows for requests in `seeds`. `how.first` and `how.end` are not read.
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
  // If `how.overfill` is false, the loop stops in two cases:
  //
  // - The factor (dim, or part of a dim) already has as many ranks as elements.
  // - The loop has added a sub-axis, and one more sub-axis would give the
  //   factor more ranks than elements.
  //
  // The second case does not apply to the first sub-axis in `parts`. For
  // example, a first sub-axis of 5 ranks may split a factor of 3 elements. Two
  // of the 5 ranks then have no element.
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

/// Returns the ways to split the factor number `factor` (dim, or part of a dim)
/// of `op` over `parts`, the sub-axes of one mesh axis. The first way adds
/// sub-axes while the factor has enough elements (see `fill`). Requests for
/// shardings of any tensor, in `seeds`, add further ways. A request for a part
/// of the mesh axis, such as [8@tp:(1)2], adds ways with only some of `parts`.
/// A request with more ranks than elements, such as [3@tp] on 4 ranks, adds a
/// way with all of `parts` for factors of 3 elements. A request such as
/// [8@tp+dp] adds ways with tp before dp, if dp already splits the factor.
static SmallVector<FillMode, 4> fillingsOf(const ShardedOp &op,
                                           ArrayRef<dist::SubAxis> parts,
                                           int factor, const Seeds &seeds) {
  SmallVector<FillMode, 4> fillings{{}};
  const int64_t size = op.rule->factors[factor].size;
  // A requested sharding may name a part of an axis. For example, the axis tp
  // of size 4 consists of the sub-axes tp:(1)2 and tp:(2)2, and a request may
  // name only tp:(1)2. In this case, add two ways to split the factor: over
  // tp:(1)2 alone, and over tp:(2)2 alone.
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

/// Returns whether `major` and `minor` are neighboring factors (parts) of some
/// dim of an operand or result: `minor` comes directly after `major`.
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

/// Returns the factors that can take the rest of a mesh axis if the factor
/// `first` is too small for the whole axis. A factor is a dim, or part of a
/// dim. For example, half of an axis of 4 ranks splits a `first` of 2 elements.
/// The other half can split one of the returned factors. These are the factors
/// that `strategies` may split, without `first`. If `mixesDims` is false, only
/// factors that come directly after `first` in a dim of `rule` are returned.
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

/// Appends copies of `op` to `candidates`, in which all sub-axes in `parts`
/// split factors. A factor is a dim, or part of a dim. `parts` are sub-axes of
/// one mesh axis that `op` does not use yet. Each factor A in `others` takes as
/// many sub-axes as it has elements for (see `fill`). If some sub-axes remain,
/// a factor B must take them. B comes directly after A in a dim, `strategies`
/// contains its split, and the mesh axis does not split B yet. There is one
/// copy for each B. For example, two sub-axes of 2 ranks split the neighboring
/// factors 2 and 8.
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

/// Appends copies of `op` to `candidates`. In the first copy, sub-axes in
/// `parts` (parts of one mesh axis) split only the factor number `factor` (dim,
/// or part of a dim). `how` says which sub-axes may do so (see `fill`). If no
/// sub-axis fits, no copy is appended. In further copies, all remaining
/// sub-axes split factors in `others`, and factors directly after these (see
/// `addRest`). For example, t0 and t1 are sub-axes of 2 ranks, and `factor` has
/// 2 elements. In the first copy, t1 splits no factor. In a further copy, t1
/// splits a factor A in `others`.
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

/// Appends a copy of `op`, an attention, to `candidates`. The copy computes
/// ring attention: all sub-axes in `parts` split the tokens of the queries, and
/// also the tokens of the keys. If the tokens are cut into stripes (contiguous
/// pieces of the sequence), the sub-axes split the tokens of each stripe.
/// `parts` are the sub-axes of one mesh axis. A sub-axis is a part of a mesh
/// axis.
///
/// Appends nothing if there are too few tokens for all sub-axes in `parts`
/// (`fill` states the exact condition). For example, 3 tokens are too few for
/// two sub-axes of 2 ranks each.
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
  SmallVector<Strategy> strategies = strategiesOf(op, parts.front());
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
  // `candidates` contains copies of `op`. Each copy is another way to compute
  // `op` on ranks, such as a split of another dim. Some ops read only a part of
  // an operand's dim. For example, the slice x[64:128] reads 64 elements of a
  // dim of 1000 elements. The member `usesAllWindows` of a copy decides what a
  // rank receives of x:
  //
  // - false: the rank may receive all 1000 elements.
  // - true: the rank receives only elements that the slice reads. The rank then
  //   may need less memory.
  //
  // In all copies so far, `usesAllWindows` is false. Append each copy once
  // more, with `usesAllWindows` = true.
  if (llvm::any_of(op.rule->windows,
                   [](const auto &window) { return window.narrows; }) &&
      !op.usesAllWindows)
    for (ShardedOp candidate : SmallVector<ShardedOp, 0>(candidates)) {
      candidate.usesAllWindows = true;
      candidates.push_back(std::move(candidate));
    }
  return candidates;
}

/// Returns the parts of `axes` that the search has already assigned. `decided`
/// lists the assigned sub-axes. For an axis tp of size 4 in `axes`, and its
/// sub-axis tp:(1)2 in `decided`, the result is tp:(1)2.
static dist::SubAxes decidedOf(const dist::SubAxes &axes,
                               const dist::SubAxes &decided) {
  dist::SubAxes kept;
  for (const dist::SubAxis &axis : axes)
    for (const dist::SubAxis &other : decided)
      if (auto both = dist::overlap(axis, other))
        kept.push_back(*both);
  return kept;
}

/// Pairs factors (parts) of one dim: those of an op's sharding rule with those
/// of `split`, a sharding of the dim. Each factor of the rule must lie within
/// one factor of the sharding. Example for a dim of 24:
///
///   factors of the rule       3, 4, 2
///   factors of the sharding   12, 2
///   pairs                     (3, 12), (4, 12), (2, 2)
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

/// Returns a copy of `op` that is split as the requested sharding `seed` asks,
/// as far as the search has assigned the axes of `seed` (`decided`). Only the
/// first result changes, or the first operand of an op without results. These
/// axes split a factor (dim, or part of a dim) in the copy, major first:
///
///  - `mb` (axis of microbatches), if it splits the factor in `op`
///  - axes of the factor in `seed`, if they are in `decided`
///  - axes of the factor in `op` that split no dim in `seed`
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
  // `candidates` contains one copy of `op`, which is split as the requested
  // sharding `seed` asks. The code below this `if` appends more copies, in
  // which `parts` split one more factor (dim, or part of a dim). `parts` are
  // sub-axes of one mesh axis.
  //
  // If `seed` splits a dim over this mesh axis or over a part of it, append no
  // more copies: the op must use the mesh axis exactly as `seed` requests. For
  // example, if `seed` uses one half of the mesh axis, the op must not use the
  // other half.
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
