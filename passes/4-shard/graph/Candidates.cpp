//===- Candidates.cpp - ways in which one more axis can split an op -------===//

#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns whether `op` must not split a factor (dim, or part of a dim) of the
/// kind `kind`, because of the factors and partial sums that it splits or
/// passes on already. A partial sum is a value that ranks still have to add. An
/// op passes on partial sums if its operands and its result are partial sums.
///
///   kind                 must not be split if
///   Sum                  a factor of the kind Max, Min or Prod is split
///   Max, Min, Prod       a factor of another of the four kinds is split
///   Max, Min, Prod       the op passes on partial sums
///   Inner                the op passes on partial sums
///
/// The parts of a split Inner factor exchange values while the op runs.
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
/// One way to split a factor (a dim, or part of a dim) over sub-axes of one
/// mesh axis, called parts. Axis tp = 4 has the parts tp:(1)2 and tp:(2)2.
struct FillMode {
  /// Whether the factor (dim, or part of a dim) may be split over more ranks
  /// than it has elements.
  bool overfill = false;
  /// Whether new sub-axes may come before axes that already split the factor
  /// (dim, or part of a dim), where a requested sharding has this order. If
  /// false, they come last: ranks that differ only in the new sub-axes have
  /// neighboring parts.
  bool reorder = false;
  /// Indices of the sub-axes that may split the factor (dim, or part of a dim):
  /// `first` to `end` - 1, in the list of prime sub-axes of one axis.
  size_t first = 0, end = SIZE_MAX;
};
} // namespace

/// Splits `factor` of `op` (a dim, or part of a dim) over the first n sub-axes
/// in `parts`, and returns n. Adds one sub-axis after the other:
///
/// - The first sub-axis is added if the factor has fewer ranks than elements.
/// - Each further sub-axis is added if the factor then has at most as many
///   ranks as elements.
/// - If `how.overfill` is true, all sub-axes are added.
///
/// Examples with `how.overfill` = false:
///
///   elements of the factor   ranks before   sizes of `parts`   n
///   6                        1              2 and 2            2
///   3                        1              2 and 2            1
///   3                        1              5                  1
///   3                        3              2                  0
///
/// If `how.reorder` is true, the sub-axes may come before axes that split the
/// factor already.
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
  // The first sub-axis in `parts` may give the factor (dim, or part of a dim)
  // more ranks than elements. Further sub-axes must not.
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

/// Returns the ways in which `factor` of `op` (a dim, or part of a dim) may be
/// split over `parts`. These are sub-axes of one mesh axis, each of a prime
/// size. In the first way, they come after the axes that split the factor
/// already. The other ways are returned only if requested shardings (`seeds`)
/// need them:
///
/// - a split over some of `parts` only; also added where the experts of a
///   mixture-of-experts layer are divided over some of `parts` only
/// - a split over more ranks than the factor has elements
/// - a split in which `parts` come before axes that split the factor already
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

/// Returns the factors (dims, or parts of dims) that may be split together with
/// the factor `first` over one axis. This is useful if the axis has more ranks
/// than `first` has elements: the second factor then uses the rest of the axis.
/// A factor is returned if both of these hold:
///
/// - `strategies`, the allowed ways to use the axis, include a split of it.
/// - `mixesDims` is true, or the factor comes directly after `first` in a dim
///   of an operand or result.
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

/// Appends copies of `op` to `candidates` that split further factors over
/// `parts`, the sub-axes that are left. A factor in `others` takes as many
/// sub-axes as it has elements for. The factors that directly follow it in a
/// dim take the rest. A copy that leaves a sub-axis unused is not appended.
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

/// Appends copies of `op` to `candidates` that are split over `parts`, the
/// prime sub-axes of one axis:
///
/// - The first copy splits `factor` (a dim, or part of a dim) as the function
///   `fill` does.
/// - Each further copy also splits one factor in `others` over the sub-axes
///   that are left, and factors behind it (addRest).
///
/// Example with two sub-axes t0 and t1 of size 2. `factor` has 2 elements, and
/// `others` has two factors of 8 elements and 1 element:
///
///   first copy                 2@t0
///   copy for the factor of 8   2@t0 and 8@t1
///   copy for the factor of 1   none, because 1 element is fewer than 2 ranks
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

/// Appends a copy of `op` to `candidates` in which all of `parts`, sub-axes of
/// one axis, split queries and keys for ring attention. Does nothing if there
/// are fewer queries than ranks.
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
  // A window is the range of an operand's dim that the op reads, such as the
  // range of a slice. If the window is smaller than the dim, a rank that
  // fetches only the window may need less memory. In this case, add a second
  // copy of each candidate, with `usesAllWindows` set.
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

/// Returns a copy of `op` that is split as the requested sharding `seed` asks.
/// The search assigns one axis after the other, and `decided` lists the axes
/// that it has assigned so far. Other axes of `seed` are not used yet. The
/// following axes split each factor (dim, or part of a dim) of the first result
/// (without results: of the first operand), major first:
///
/// - the axis `mb` of microbatches, if it splits the factor in `op`
/// - the axes that split the factor in `seed`, if they are in `decided`
/// - the axes that split the factor in `op`, if `seed` names them nowhere
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
  // The requested sharding `seed` names a part of this axis. The op must not
  // use the other parts of the axis.
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
