//===- ReshardReduce.cpp - reshard plans that reduce or create partials ---===//
#include "passes/plan/reshard/ReshardReduce.h"
#include "passes/plan/reshard/ReshardMove.h"

using namespace pcc::dist;

namespace pcc::plan {

/// Returns `sharding` without the partial axes `axes`.
static Sharding dropPartials(Sharding sharding, const SubAxes &axes) {
  std::vector<Partial> rest;
  for (const Partial &partial : sharding.partials)
    for (const SubAxis &axis :
         subtract({partial.axis}, axes).value_or(SubAxes{partial.axis}))
      rest.push_back({axis, partial.kind});
  sharding.partials = std::move(rest);
  return canonical(std::move(sharding));
}

/// Returns the partial axes of `sharding` on the time axis (microbatches).
static SubAxes partialAlongTime(const Sharding &sharding) {
  SubAxes axes;
  for (const Partial &partial : sharding.partials)
    if (partial.axis.axis == timeAxis)
      axes.push_back(partial.axis);
  return axes;
}

/// Returns `dim`, of `size` elements, with its last factor also split over
/// `axes`. For example, let [3|64@x] be a dim of 3 * 64 elements, whose factor
/// 64 is split over x. With `axes` {y}, it becomes [3|64@x+y].
static DimSharding splitFurther(DimSharding dim, int64_t size,
                                const SubAxes &axes) {
  if (dim.factors.empty())
    return splitOver(size, axes);
  SubAxes &last = dim.factors.back().axes;
  last.insert(last.end(), axes.begin(), axes.end());
  return canonical(std::move(dim));
}

/// Returns the split of `dim`, of `size` elements, after an all-gather over
/// `axes`. Only the other axes still split it. If possible, each rank's new
/// shard is its old one plus those of the gathered ranks (withoutAxes).
/// Otherwise, the other axes split the dim into contiguous parts.
static DimSharding splitByOthers(const DimSharding &dim, int64_t size,
                                 const SubAxes &axes) {
  if (std::optional<DimSharding> rest = withoutAxes(dim, axes))
    return *rest;
  SubAxes others;
  for (const SubAxis &axis : dim.axes()) {
    std::optional<SubAxes> left = subtract({axis}, axes);
    if (left)
      others.insert(others.end(), left->begin(), left->end());
  }
  return canonical(splitOver(size, others));
}

namespace {
/// Plans a reshard from `from` to `to` with a reduction. `reduced` are the axes
/// that only `from` is partial along. A candidate plan has these steps, each
/// optional: slice, reduce_scatter, all_reduce, movement of elements.
class ReductionPlanner {
public:
  ReductionPlanner(const Sharding &from, const Sharding &to, SubAxes reduced,
                   const Shape &shape, int64_t elementBytes, const Mesh &mesh,
                   const Prices &prices)
      : from(from), to(to), reduced(std::move(reduced)), shape(shape),
        elementBytes(elementBytes), mesh(mesh), prices(prices) {}

  /// Returns the cheapest candidate plan. Must be called only once.
  ReshardPlan plan() {
    best.error = "no plan";
    SubAxes splitting =
        subtract(reduced, subtract(reduced, splitAxes(to)).value_or(reduced))
            .value_or(SubAxes{});
    consider(from, splitting);
    Sharding sliced = sliceTowardsTarget();
    if (sliced != from)
      consider(sliced, splitting);
    return best;
  }

private:
  /// Returns a sharding to which `from` can be sliced before the reduction, so
  /// that fewer elements are reduced. It splits each dim as `to` does, but not
  /// over the axes of the reduction. A dim stays as in `from` if this slice
  /// would need communication.
  Sharding sliceTowardsTarget() const {
    Sharding current = from;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (to.dims[d].view)
        continue;
      Sharding next = current;
      next.dims[d] = splitByOthers(to.dims[d], shape[d], reduced);
      if (!findError(next, mesh, shape) && isFree(current, next, shape))
        current = std::move(next);
    }
    return current;
  }

  /// Makes all plans that slice from `from` to `start` and then reduce, and
  /// keeps the cheapest one in `best`. The plans differ in the reduce_scatter:
  ///
  ///  - no reduce_scatter, only an all_reduce;
  ///  - over `splitting`, the reduced axes that split a dim of `to`;
  ///  - for each dim: over all reduced axes, which then split this dim.
  void consider(const Sharding &start, const SubAxes &splitting) {
    offer(start, start, {});
    if (!splitting.empty())
      offer(start, scatteredAsTarget(start, splitting), splitting);
    for (size_t d = 0; d < shape.size(); ++d) {
      Sharding scattered = start;
      scattered.dims[d] = splitFurther(start.dims[d], shape[d], reduced);
      offer(start, scattered, reduced);
    }
  }

  /// Returns the sharding after a reduce_scatter over `axes` from `start`. Each
  /// axis is added to the dim that it splits under `to`. For example, with
  /// `start` [x, -], `to` [x+y, -] and `axes` {y}, it is [x+y, -].
  Sharding scatteredAsTarget(const Sharding &start, const SubAxes &axes) const {
    Sharding result = start;
    for (size_t d = 0; d < shape.size(); ++d) {
      SubAxes wanted = to.dims[d].axes();
      SubAxes here = subtract(axes, subtract(axes, wanted).value_or(axes))
                         .value_or(SubAxes{});
      if (here.empty())
        continue;
      std::optional<DimSharding> rest = withoutAxes(to.dims[d], axes);
      result.dims[d] = rest && *rest == start.dims[d] && !to.dims[d].view
                           ? to.dims[d]
                           : splitFurther(start.dims[d], shape[d], here);
    }
    return result;
  }

  /// Makes one candidate plan and stores it in `best` if it is cheaper. Its
  /// steps are:
  ///
  ///   1. a slice from `from` to `start`
  ///   2. a reduce_scatter over `axes` to `scattered`; none if `axes` is empty
  ///   3. an all_reduce over the other reduced axes
  ///   4. a movement of elements to `to`
  void offer(const Sharding &start, Sharding scattered, const SubAxes &axes) {
    scattered = dropPartials(std::move(scattered), axes);
    if (!axes.empty() &&
        (findError(scattered, mesh, shape) || !isFree(start, scattered, shape)))
      return;
    ReshardPlan plan =
        planMovement(from, start, shape, elementBytes, mesh, prices);
    if (!axes.empty())
      appendReduction(plan, CollectiveKind::ReduceScatter, axes, start,
                      scattered);
    SubAxes rest = subtract(reduced, axes).value_or(SubAxes{});
    Sharding done = dropPartials(scattered, rest);
    if (!rest.empty())
      appendReduction(plan, CollectiveKind::AllReduce, rest, scattered, done);
    append(plan, planMovement(done, to, shape, elementBytes, mesh, prices));
    if (isCheaper(plan, best))
      best = std::move(plan);
  }

  /// Appends a reduction over `axes` in groups of n ranks. A rank receives
  /// (n-1)/n of the operand for a reduce_scatter, and twice as much for an
  /// all_reduce.
  void appendReduction(ReshardPlan &plan, CollectiveKind kind,
                       const SubAxes &axes, const Sharding &before,
                       const Sharding &after) const {
    int64_t ranks = numParts(axes),
            local = localBytes(before, shape, elementBytes);
    int64_t rounds = kind == CollectiveKind::AllReduce ? 2 : 1;
    append(plan,
           {kind, inMeshOrder(axes, mesh), before, after, local,
            rounds * (ranks - 1) * local / ranks},
           prices);
  }

  const Sharding &from, &to;
  SubAxes reduced;
  const Shape &shape;
  int64_t elementBytes;
  const Mesh &mesh;
  const Prices &prices;
  ReshardPlan best;
};
} // namespace

/// Returns a plan without steps. `error` is the reason why there is no plan.
static ReshardPlan failed(std::string error) {
  ReshardPlan plan;
  plan.error = std::move(error);
  return plan;
}

ReshardPlan planReduction(const Sharding &from, const Sharding &to,
                          const Shape &shape, int64_t elementBytes,
                          const Mesh &mesh, const Prices &prices) {
  std::optional<SubAxes> reduced = subtract(partialAxes(from), partialAxes(to));
  std::optional<SubAxes> added = subtract(partialAxes(to), partialAxes(from));
  if (!reduced || !added)
    return failed("sub-axes of partial values do not align");
  // The last step is a mask, which makes the value partial along the axes
  // `added`. The steps before it lead from `start` to `unmasked`:
  //  - `unmasked` is `to`, but not partial along the axes `added`.
  //  - `start` is `from`, but not partial along the time axis (microbatches),
  //    unless `to` is. The sum over microbatches is no communication.
  Sharding unmasked = dropPartials(to, *added);
  Sharding start = dropPartials(
      from,
      subtract(partialAlongTime(from), partialAxes(to)).value_or(SubAxes{}));
  SubAxes left = subtract(*reduced, partialAlongTime(from)).value_or(*reduced);
  if (dropPartials(start, left).partials != unmasked.partials)
    return failed("a partial value cannot change its kind of reduction");
  ReshardPlan plan =
      left.empty()
          ? planMovement(start, unmasked, shape, elementBytes, mesh, prices)
          : ReductionPlanner(start, unmasked, left, shape, elementBytes, mesh,
                             prices)
                .plan();
  if (!added->empty())
    append(plan,
           {CollectiveKind::Mask, inMeshOrder(*added, mesh), unmasked, to,
            localBytes(unmasked, shape, elementBytes), 0},
           prices);
  return plan;
}

} // namespace pcc::plan
