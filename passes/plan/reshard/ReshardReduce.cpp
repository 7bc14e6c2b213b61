//===- ReshardReduce.cpp - reshard plans that reduce or create partials ---===//
#include "passes/plan/reshard/ReshardReduce.h"
#include "passes/plan/reshard/ReshardMove.h"

using namespace pcc::dist;

namespace pcc::plan {

Sharding dropPartials(Sharding sharding, const SubAxes &axes) {
  std::vector<Partial> rest;
  for (const Partial &partial : sharding.partials)
    for (const SubAxis &axis :
         subtract({partial.axis}, axes).value_or(SubAxes{partial.axis}))
      rest.push_back({axis, partial.kind});
  sharding.partials = std::move(rest);
  return canonical(std::move(sharding));
}

SubAxes partialAlongTime(const Sharding &sharding) {
  SubAxes axes;
  for (const Partial &partial : sharding.partials)
    if (partial.axis.axis == timeAxis)
      axes.push_back(partial.axis);
  return axes;
}

/// Splits `dim`, a dim of `size` elements, over the additional mesh axes
/// `axes`. If the dim is a product of factors, such as 3 * 64, splits the last
/// factor: [3|64@x] and {y} give [3|64@x+y].
static DimSharding splitFurther(DimSharding dim, int64_t size,
                                const SubAxes &axes) {
  if (dim.factors.empty())
    return splitOver(size, axes);
  SubAxes &last = dim.factors.back().axes;
  last.insert(last.end(), axes.begin(), axes.end());
  return canonical(std::move(dim));
}

/// Returns `dim`, a dim of `size` elements, without its split over `axes`. If
/// possible, the result is the split that remains after an all-gather over
/// `axes`. Its shards may be strided: an all-gather over x changes [8@x+y] to
/// [2|4@y]. If these shards would differ in size, the result is a split of the
/// dim into contiguous shards over the other axes. This split lacks each
/// sub-axis from which `axes` cannot be subtracted: for example, it is a half
/// of a mesh axis, and `axes` contains a third of this mesh axis.
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

ReshardStep reductionStep(CollectiveKind kind, const SubAxes &axes,
                          const Sharding &before, const Sharding &after,
                          const Shape &shape, int64_t elementBytes,
                          const Mesh &mesh) {
  int64_t ranks = numParts(axes),
          local = localBytes(before, shape, elementBytes);
  int64_t rounds = kind == CollectiveKind::AllReduce ? 2 : 1;
  return {kind,   inMeshOrder(axes, mesh),
          before, after,
          local,  rounds * (ranks - 1) * local / ranks};
}

namespace {
/// Plans a reshard from `from` to `to` with a reduction over the axes
/// `reduced`. Ranks along these axes hold partial tensors under `from`, but not
/// under `to`. A candidate plan has some of these steps in this order: a slice,
/// a reduce_scatter over some or all axes in `reduced`, an all_reduce over the
/// other axes in `reduced`, and collectives without a reduction.
class ReductionPlanner {
public:
  ReductionPlanner(const Sharding &from, const Sharding &to, SubAxes reduced,
                   const Shape &shape, int64_t elementBytes, const Mesh &mesh,
                   const Prices &prices)
      : from(from), to(to), reduced(std::move(reduced)), shape(shape),
        elementBytes(elementBytes), mesh(mesh), prices(prices) {}

  /// Makes several candidate plans and returns the cheapest one. Each candidate
  /// is a list of slices and collectives that changes the tensor from the
  /// sharding `from` to the sharding `to`. Sets `error` of the result if no
  /// candidate is possible. An object of this class makes only one plan, so the
  /// function must be called only once.
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
  /// Returns the sharding to which ranks can slice the tensor before the
  /// reduction, so that they reduce fewer elements. In this sharding, each dim
  /// is split as under `to`, but not over axes in `reduced`. A dim keeps its
  /// split under `from` if this is not possible by a slice, or if `to` reads
  /// the dim in windows (halos).
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

  /// Makes several plans with offer(), which keeps the cheapest plan in `best`.
  /// Each plan first slices the tensor to the sharding `start`. Then ranks
  /// reduce over the axes in `reduced`, in one of three ways:
  ///
  /// - by an all_reduce
  /// - by a reduce_scatter over all axes, which splits one dim
  /// - by a reduce_scatter over `splitting` (axes in `reduced` that split a dim
  ///   under `to`) and an all_reduce over the other axes
  ///
  /// At the end, collectives without a reduction change the sharding to `to`.
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

  /// Returns the sharding `start` after a reduce_scatter over `axes`. Each of
  /// these axes splits the dim that it splits under `to`. For example, `start`
  /// [-, -], `to` [x, y] and the axis x give [x, -].
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

  /// Makes one plan, and keeps it in `best` if it is cheaper than `best`. The
  /// plan has these steps: a slice to `start`, a reduce_scatter over `axes` to
  /// `scattered`, an all_reduce over the other axes in `reduced`, and
  /// collectives without a reduction that change the sharding to `to`. Makes no
  /// plan if the reduce_scatter is not possible.
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

  /// Appends a ReduceScatter or AllReduce over `axes` to `plan`.
  void appendReduction(ReshardPlan &plan, CollectiveKind kind,
                       const SubAxes &axes, const Sharding &before,
                       const Sharding &after) const {
    append(plan,
           reductionStep(kind, axes, before, after, shape, elementBytes, mesh),
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

/// Returns a ReshardPlan object which says that no plan exists. The list of
/// steps in the object is empty. The member `error` of the object is the
/// parameter `error`, a text with the reason.
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
  // `added` has the axes along which only `to` is partial. The last step, a
  // mask, makes all ranks except those at coordinate 0 hold the neutral
  // element, such as 0 for a sum. A reduction over microbatches needs no step,
  // because it needs no communication.
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
