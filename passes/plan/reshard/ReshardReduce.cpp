//===- ReshardReduce.cpp - reshard plans that reduce or create partials ---===//
#include "passes/plan/reshard/ReshardReduce.h"
#include "passes/plan/reshard/ReshardMove.h"

using namespace pcc::dist;

namespace pcc::plan {

/// Returns `sharding` with the digits of `axes` removed from its partial axes.
static Sharding dropPartials(Sharding sharding, const SubAxes &axes) {
  std::vector<Partial> rest;
  for (const Partial &partial : sharding.partials)
    for (const SubAxis &axis :
         subtract({partial.axis}, axes).value_or(SubAxes{partial.axis}))
      rest.push_back({axis, partial.kind});
  sharding.partials = std::move(rest);
  return canonical(std::move(sharding));
}

/// Returns the partial axes of `sharding` that belong to the time axis.
static SubAxes partialAlongTime(const Sharding &sharding) {
  SubAxes axes;
  for (const Partial &partial : sharding.partials)
    if (partial.axis.axis == timeAxis)
      axes.push_back(partial.axis);
  return axes;
}

/// Returns `dim` with its most minor factor split over `axes` as well.
static DimSharding splitFurther(DimSharding dim, int64_t size,
                                const SubAxes &axes) {
  if (dim.factors.empty())
    return splitOver(size, axes);
  SubAxes &last = dim.factors.back().axes;
  last.insert(last.end(), axes.begin(), axes.end());
  return canonical(std::move(dim));
}

/// Returns the split of `dim` over its axes other than `axes`. If these axes
/// can keep the parts that they have in `dim`, they do; otherwise the dim is
/// split anew over them.
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
/// Plans from `from` to `to`, where `reduced` are the axes along which only
/// `from` is partial. All candidates have one form: slice, reduce_scatter,
/// all_reduce, movement, each of which may be absent.
class ReductionPlanner {
public:
  ReductionPlanner(const Sharding &from, const Sharding &to, SubAxes reduced,
                   const Shape &shape, int64_t elementBytes, const Mesh &mesh,
                   const Prices &prices)
      : from(from), to(to), reduced(std::move(reduced)), shape(shape),
        elementBytes(elementBytes), mesh(mesh), prices(prices) {}

  /// Returns the cheapest candidate. Call once.
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
  /// Returns `from` with as many dims as possible sliced to the sharding of the
  /// target without the reduced axes. A dim is sliced only if every rank holds
  /// the slice already.
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

  /// Offers all candidates that slice to `start` and reduce from there: without
  /// a reduce_scatter, with one over `splitting`, and with one over all reduced
  /// axes into each dim. `splitting` are the reduced axes that split a dim of
  /// the target.
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

  /// Returns `start` with each of `axes` splitting the dim that the axis splits
  /// in the target.
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

  /// Replaces `best` if this candidate is cheaper: slice to `start`,
  /// reduce_scatter over `axes` to `scattered`, all_reduce over the other
  /// reduced axes, movement to the target. Without `axes` there is no
  /// reduce_scatter.
  void offer(const Sharding &start, Sharding scattered, const SubAxes &axes) {
    scattered = dropPartials(std::move(scattered), axes);
    if (!axes.empty() &&
        (findError(scattered, mesh, shape) || !isFree(start, scattered, shape)))
      return;
    ReshardPlan plan =
        planMovement(from, start, shape, elementBytes, mesh, prices);
    if (!axes.empty())
      appendReduction(plan, ReshardStepKind::ReduceScatter, axes, start,
                      scattered);
    SubAxes rest = subtract(reduced, axes).value_or(SubAxes{});
    Sharding done = dropPartials(scattered, rest);
    if (!rest.empty())
      appendReduction(plan, ReshardStepKind::AllReduce, rest, scattered, done);
    append(plan, planMovement(done, to, shape, elementBytes, mesh, prices));
    if (isCheaper(plan, best))
      best = std::move(plan);
  }

  /// Appends a reduction over `axes`. Each rank receives (n-1)/n of the operand
  /// for a reduce_scatter and twice that for an all_reduce.
  void appendReduction(ReshardPlan &plan, ReshardStepKind kind,
                       const SubAxes &axes, const Sharding &before,
                       const Sharding &after) const {
    int64_t ranks = numParts(axes),
            local = localBytes(before, shape, elementBytes);
    int64_t rounds = kind == ReshardStepKind::AllReduce ? 2 : 1;
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

/// Returns an impossible plan with the given reason.
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
  // The target before the mask. Partial axes along the time axis that the
  // target lacks are dropped from the start: accumulation is no communication.
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
           {ReshardStepKind::Mask, inMeshOrder(*added, mesh), unmasked, to,
            localBytes(unmasked, shape, elementBytes), 0},
           prices);
  return plan;
}

} // namespace pcc::plan
