//===- Candidates.cpp - ways in which one more axis can split an op -------===//

#include "passes/4-shard/graph/RingAttention.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::FactorKind;

/// Returns whether `op` must not split a factor of the kind `kind`. A factor is
/// a dim of an operand or result, or part of such a dim. The kind of a factor
/// says which communication its split requires:
///
/// - Sum, Max, Min, Prod: each rank has a partial result. Ranks combine the
///   partial results by a sum, maximum, minimum or product.
/// - Inner: ranks exchange values while the op runs.
///
/// Some splits exclude each other. The function returns true in these cases:
///
///   `kind`                  returns true if
///   Sum, Max, Min, Prod     a factor of another of these four kinds is split
///   Max, Min, Prod, Inner   an operand of `op` is a partial sum
///
/// A partial sum is a value of which each rank has one addend.
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
  /// Whether a requested sharding may change the order in which mesh axes split
  /// the factor (dim, or part of a dim). A mesh axis B already splits the
  /// factor. The search now also splits the factor over sub-axes of a mesh axis
  /// A. A sub-axis is a part of a mesh axis.
  ///
  /// - If `reorder` is false, the factor is split first over B, and then over
  ///   the sub-axes of A.
  /// - If `reorder` is true, requested shardings matter. The user or the model
  ///   may request a sharding in which some dim is split first over A, and then
  ///   over B. The factor is then split first over the sub-axes of A, and then
  ///   over B. If there is no request of this kind, the order is as for false.
  ///
  /// Example: A is tp, and B is dp. The user requests the sharding [8@tp+dp] of
  /// some tensor, which splits 8 elements first over tp, and then over dp:
  ///
  ///   reorder   axes of the factor, major first
  ///   false     dp, tp
  ///   true      tp, dp
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
/// `parts`, and returns n. A factor is a dim, or part of a dim. A sub-axis is a
/// part of a mesh axis. `parts` are sub-axes of one mesh axis. Other axes may
/// already split the factor. The function adds one sub-axis after the other:
///
/// - The first sub-axis is added if the factor is split over fewer ranks than
///   it has elements.
/// - A further sub-axis is added if the factor is then split over at most as
///   many ranks as it has elements.
/// - If `how.overfill` is true, all sub-axes are added, without these
///   conditions.
///
/// Examples with `how.overfill` = false. The column "ranks before" is the
/// number of ranks over which other axes already split the factor:
///
///   elements of the factor   ranks before   sizes of `parts`   n
///   6                        1              2 and 2            2
///   3                        1              2 and 2            1
///   3                        1              5                  1
///   3                        3              2                  0
///
/// `how.reorder` decides about the order of the axes that split the factor:
///
/// - If it is false, the new sub-axes come last.
/// - If it is true, the new sub-axes come last, too, with one exception. A
///   requested sharding in `seeds` may split a dim first over the mesh axis of
///   `parts`, and then over an axis that already splits the factor. The new
///   sub-axes then come directly before this axis.
///
/// The function does not read the members `first` and `end` of `how`.
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

/// Returns the ways in which the search tries to split the factor number
/// `factor` of `op` over `parts`. A factor is a dim, or part of a dim. `parts`
/// are sub-axes of one mesh axis, each of a prime size. For example, the mesh
/// axis tp of size 4 has the sub-axes tp:(1)2 and tp:(2)2. `seeds` are
/// requests: shardings that the user or the model requests for some tensors.
///
/// The first way adds the sub-axes in `parts` to the factor, one after the
/// other, until the next sub-axis would give the factor more ranks than
/// elements (`fill` states the exact condition). For example, a factor of 2
/// elements is split over tp:(1)2 only, because tp:(1)2 and tp:(2)2 together
/// have 4 ranks. If other axes already split the factor, the sub-axes come
/// after these axes.
///
/// A request for any tensor may ask for another way. This way is then tried for
/// the factor as well. There are three cases:
///
/// - A request uses only a part of the mesh axis. For example, [8@tp:(1)2] uses
///   only tp:(1)2. Two ways are added: one splits the factor over tp:(1)2 only,
///   and the other splits the factor over tp:(2)2 only. A mixture-of-experts
///   layer counts as a request if only a part of the mesh axis divides its
///   experts.
/// - A request splits a dim over more ranks than the dim has elements. For
///   example, [3@tp] splits 3 elements over 4 ranks. If the factor has 3
///   elements as well, and a split over all of `parts` gives it more than 3
///   ranks, this split is added as a way.
/// - A request names the mesh axis before another axis. For example, [8@tp+dp]
///   splits a dim first over tp, and then over dp. If dp already splits the
///   factor, the number of ways is doubled. For each way in which the sub-axes
///   come after dp, a way is added in which the sub-axes come before dp.
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
/// dim. Example: the axis tp has 4 ranks, and `first` has 2 elements. One half
/// of tp (a sub-axis of 2 ranks) splits `first`. The other half of tp is the
/// rest, and can split one of the returned factors.
///
/// - `rule` is the sharding rule of an op. It lists the factors of each dim of
///   the operands and results.
/// - `strategies` lists the ways in which the op may use the axis. Some of
///   these ways are splits of a factor. The function returns the factors of
///   these splits, without `first`.
/// - If `mixesDims` is false, a factor is returned only if it comes directly
///   after `first` in a dim. In a dim of 24 elements with the factors 4 and 6,
///   the factor 6 comes directly after the factor 4.
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

/// Appends copies of `op` to `candidates`. In each copy, all sub-axes in
/// `parts` split factors of the op. A factor is a dim, or part of a dim. A
/// sub-axis is a part of a mesh axis. The parameters are
///
/// - `parts`: sub-axes of one mesh axis. `op` does not use these sub-axes yet.
///   Another sub-axis of this mesh axis already splits a factor of `op`.
/// - `others`: the factors that the first sub-axis in `parts` may split
/// - `strategies`: the allowed ways to use a sub-axis, such as the split of a
///   certain factor
///
/// For each factor A in `others`, the function does these steps:
///
/// 1. It copies `op`. In the copy, it adds the sub-axes in `parts` to factor A,
///    one after the other, until the next sub-axis would give factor A more
///    ranks than elements (`fill` states the exact condition).
/// 2. If all sub-axes have been added, it appends the copy to `candidates`. If
///    no sub-axis has been added, it drops the copy.
/// 3. Otherwise, some sub-axes remain. They must split another factor B, so the
///    function calls itself with the copy, the remaining sub-axes, and a list
///    of all possible factors B. If the list is empty, nothing is appended.
///
/// A factor B is possible if it meets three conditions:
///
/// - Factor B comes directly after factor A in a dim of an operand or result.
/// - `strategies` contains the split of factor B.
/// - The mesh axis does not split factor B yet.
///
/// Example: `parts` are t0 and t1, each of 2 ranks. A dim has the factors 2 and
/// 8, and `others` contains only the factor 2. The function adds t0 to the
/// factor 2, which then has 2 ranks and 2 elements. t1 remains. The factor 8
/// comes directly after the factor 2, so the function adds t1 to the factor 8.
/// It appends one copy: t0 splits the factor 2, and t1 splits the factor 8.
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

/// Appends copies of `op` to `candidates`. In each copy, sub-axes in `parts`
/// split the factor number `factor`. In some copies, further sub-axes in
/// `parts` split other factors. A factor is a dim, or part of a dim. A sub-axis
/// is a part of a mesh axis. The parameters are
///
/// - `parts`: sub-axes of one mesh axis, each of a prime size
/// - `how`: says which sub-axes in `parts` may split `factor`, and whether
///   `factor` may have more ranks than elements (`how.overfill`)
/// - `others`: the factors that may be split in addition to `factor`
/// - `strategies`: the allowed ways to use a sub-axis, such as the split of a
///   certain factor
///
/// The first copy is made as follows. The function adds the sub-axes that `how`
/// allows to `factor`, one after the other. If `how.overfill` is false, the
/// function stops before a sub-axis that would give `factor` more ranks than
/// elements (`fill` states the exact condition). If the function can add no
/// sub-axis, it appends no copy at all.
///
/// The remaining sub-axes are the sub-axes in `parts` after the last sub-axis
/// that was added. In the first copy, the remaining sub-axes split no factor.
/// The function addRest appends further copies, in which all remaining sub-axes
/// split factors. For each factor A in `others`, there are three cases:
///
/// - A has enough elements for all remaining sub-axes. In a further copy, all
///   remaining sub-axes split A.
/// - A has enough elements only for the first remaining sub-axes. In a further
///   copy, the first remaining sub-axes split A, and the last ones split the
///   factor that comes directly after A in a dim. This copy requires that
///   `strategies` contains the split of the factor after A.
/// - A already has as many ranks as elements. For example, A has 1 element.
///   There is no further copy for A.
///
/// Example: `parts` are three sub-axes t0, t1 and t2, of 2 ranks each. `factor`
/// has 2 elements. `others` contains a factor A of 4 elements and a factor B of
/// 2 elements. In some dim, a factor C of 8 elements comes directly after B:
///
///   copy               t0 splits   t1 splits   t2 splits
///   first copy         `factor`    no factor   no factor
///   further copy (A)   `factor`    A           A
///   further copy (B)   `factor`    B           C
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

/// Returns a copy of `op` that is split as the requested sharding `seed` asks.
/// The search assigns one mesh axis after the other. `decided` lists the axes
/// that the search has assigned so far. Axes of `seed` that are not in
/// `decided` are not used yet.
///
/// Only the factors of the first result are changed. If the op has no result,
/// the factors of the first operand are changed. A factor is a dim, or part of
/// a dim. These axes split a factor in the copy, major first:
///
/// - the axis `mb`, along which the parts are microbatches, if `mb` splits the
///   factor in `op`
/// - the axes that split the factor in `seed`, if they are in `decided`
/// - the axes that split the factor in `op`, if they split no dim in `seed`
///
/// Example for one factor:
///
///   axes in `op`   axes in `seed`   `decided`    axes in the copy
///   mb, dp         tp, cp           mb, dp, tp   mb, tp, dp
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
