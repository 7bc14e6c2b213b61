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

/// Returns the sub-axes of the microbatch axis along which `sharding` is
/// partial. The microbatch axis is the mesh axis whose coordinates are
/// microbatches rather than ranks. If a tensor is partial along it, each
/// microbatch computes one partial tensor. The true value is the reduction of
/// these tensors, such as their sum.
static SubAxes partialAlongTime(const Sharding &sharding) {
  SubAxes axes;
  for (const Partial &partial : sharding.partials)
    if (partial.axis.axis == timeAxis)
      axes.push_back(partial.axis);
  return axes;
}

/// Splits the dim `dim` over additional mesh axes, and returns the new split.
/// The dim has `size` elements. `axes` has the additional axes.
///
/// A dim can consist of several factors. For example, a dim of 192 elements can
/// have the factors 3 and 64, because 3 * 64 = 192. Mesh axes split each factor
/// separately. The function splits the last factor. For example, in [3|64@x],
/// the factor 64 is split over x. If `axes` is {y}, the result is [3|64@x+y]:
/// the factor 64 is split over x and then over y. If `dim` has no list of
/// factors, the function splits the whole dim over `axes`.
static DimSharding splitFurther(DimSharding dim, int64_t size,
                                const SubAxes &axes) {
  if (dim.factors.empty())
    return splitOver(size, axes);
  SubAxes &last = dim.factors.back().axes;
  last.insert(last.end(), axes.begin(), axes.end());
  return canonical(std::move(dim));
}

/// Returns a split of `dim`, which has `size` elements, over its axes that are
/// not in `axes`. If possible, the result is the split after an all-gather over
/// `axes`. Example: x and y have size 2. A dim of 8 elements is split over x
/// and then over y, and `axes` is {x}. The ranks at y = 0 then have the
/// elements 0, 1, 4 and 5. If the parts under `dim` have different sizes, the
/// result has contiguous parts. For 6 elements, the ranks at y = 0 have the
/// elements 0 to 2. If an axis of `dim` does not fit together with `axes`, such
/// as halves and thirds of one mesh axis, the result is not split over this
/// axis.
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
/// Plans a reshard of a tensor from the sharding `from` to the sharding `to`,
/// with a reduction over the axes `reduced`. Under `from`, the ranks along
/// these axes hold partial tensors: the true value is their reduction, such as
/// their sum. Under `to`, the tensor is reduced along these axes.
///
/// A candidate plan has these steps in this order. A plan may omit steps:
///  1. A slice: each rank keeps only a part of its shard.
///  2. A reduce_scatter over some or all of the axes `reduced`.
///  3. An all_reduce over the axes `reduced` that step 2 does not reduce.
///  4. A movement of elements without a reduction, such as an all-gather.
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
  /// Returns the sharding after a slice, in which each rank keeps a part of its
  /// shard without communication. The slice comes before the reduction, so that
  /// the reduction has fewer elements. Each dim gets its split under `to`
  /// without the axes in `reduced`. The dim keeps its split under `from` if the
  /// new split is not valid or needs communication, or if `to` reads the dim
  /// through a view (window with halos). Example: `reduced` is {y}, `from` does
  /// not split the dim, and `to` splits it over x and then over y. The result
  /// splits the dim over x.
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

  /// Makes several plans, skips impossible ones, and keeps the cheapest one in
  /// `best`. Each plan slices the tensor from the sharding `from` to the
  /// sharding `start`, then reduces it over all axes in `reduced`, and then
  /// moves its elements to the sharding `to`. The plans differ in the
  /// reduction:
  ///  - One plan has only an all_reduce.
  ///  - One plan has a reduce_scatter over the axes `splitting`, then an
  ///    all_reduce over the remaining axes in `reduced`. `splitting` has the
  ///    axes in `reduced` that split a dim under `to`. If it is empty, there is
  ///    no such plan.
  ///  - For each dim, one plan has a reduce_scatter over all axes in `reduced`.
  ///    This reduce_scatter splits the dim over these axes.
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

  /// Returns the split of the dims after a reduce_scatter over the mesh axes
  /// `axes`. The tensor has the sharding `start` before the reduce_scatter.
  /// Under the sharding `to`, each axis in `axes` splits one dim. In the
  /// result, the axis splits the same dim.
  ///
  /// Example: under `start`, dim 0 is split over x. Under `to`, dim 0 is split
  /// over x and then over y. `axes` is {y}. In the result, dim 0 is split over
  /// x and then over y, as under `to`.
  ///
  /// The result can also differ from `to`. Example: under `start`, dim 0 is
  /// split over z. `to` and `axes` are as before. In the result, dim 0 is split
  /// over z and then over y.
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

  /// Makes one plan, and stores it in `best` if it is cheaper than `best`.
  /// `axes` is a subset of `reduced`. Steps that reduce over no axis are left
  /// out:
  ///  1. A slice from `from` to `start`.
  ///  2. A reduce_scatter over `axes`, from `start` to `scattered`.
  ///  3. An all_reduce over the axes that are in `reduced` and not in `axes`.
  ///  4. A movement of elements to `to`, without a reduction.
  /// Makes no plan if step 2 is needed and not possible: `scattered` is not
  /// valid, or a rank lacks elements of `scattered` under `start`.
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

  /// Appends one step to `plan`: a reduction over the mesh axes `axes`. `kind`
  /// is ReduceScatter or AllReduce. The reduction changes the tensor from the
  /// sharding `before` to the sharding `after`.
  ///
  /// Ranks that differ only in their coordinates along `axes` form a group. Let
  /// a group have n ranks, and let the shard of a rank before the reduction
  /// have b bytes. In a reduce_scatter, a rank receives (n - 1) / n * b bytes.
  /// In an all_reduce, a rank receives twice as many bytes.
  ///
  /// Example: `axes` is {x, y}. The axis x has size 2, and y has size 4. A
  /// group has n = 2 * 4 = 8 ranks. If b is 800, a rank receives 7/8 * 800 =
  /// 700 bytes in a reduce_scatter, and 1400 bytes in an all_reduce.
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
  // `added` has the axes along which only `to` is partial. The last step of the
  // plan is a mask, which makes the tensor partial along these axes: all ranks
  // except those at coordinate 0 replace their values by the neutral element of
  // the reduction, such as 0 for a sum. The steps before the mask lead from
  // `start` to `unmasked`. `start` is not partial along the microbatch axis if
  // `to` is not, because a reduction over microbatches needs no communication
  // between ranks.
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
