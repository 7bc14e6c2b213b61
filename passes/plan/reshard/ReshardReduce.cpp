//===- ReshardReduce.cpp - Plans that end or begin partial values ---------===//
#include "passes/plan/reshard/ReshardReduce.h"
#include "passes/plan/reshard/ReshardMove.h"

using namespace pcc::dist;

namespace pcc::plan {

/// `sharding` without the digits of `axes` in its partials.
static Sharding dropPartials(Sharding sharding, const SubAxes &axes) {
  std::vector<Partial> rest;
  for (const Partial &partial : sharding.partials)
    for (const SubAxis &axis :
         subtract({partial.axis}, axes).value_or(SubAxes{partial.axis}))
      rest.push_back({axis, partial.kind});
  sharding.partials = std::move(rest);
  return canonical(std::move(sharding));
}

static SubAxes partialAlongTime(const Sharding &sharding) {
  SubAxes axes;
  for (const Partial &partial : sharding.partials)
    if (partial.axis.axis == timeAxis)
      axes.push_back(partial.axis);
  return axes;
}

/// `dim` split further, at the minor end.
static DimSharding splitFurther(DimSharding dim, int64_t size,
                                const SubAxes &axes) {
  if (dim.factors.empty())
    return splitOver(size, axes);
  SubAxes &last = dim.factors.back().axes;
  last.insert(last.end(), axes.begin(), axes.end());
  return canonical(std::move(dim));
}

/// `dim` as its axes other than `axes` split it: the same parts where they stay
/// even, else parts of their own.
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
/// `from` is partial.
class ReductionPlanner {
public:
  ReductionPlanner(const Sharding &from, const Sharding &to, SubAxes reduced,
                   const Shape &shape, int64_t elementBytes, const Mesh &mesh,
                   const Prices &prices)
      : from(from), to(to), reduced(std::move(reduced)), shape(shape),
        elementBytes(elementBytes), mesh(mesh), prices(prices) {}

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
  /// `from`, each dim as the target has it apart from the reduced axes, where
  /// every rank holds that already.
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

  /// All plans that reduce while sharded as `start`. `splitting` are the
  /// reduced axes that split the target.
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

  /// `start` with each of `axes` splitting the dim that it splits in the
  /// target.
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

  /// slice to `start`, reduce_scatter over `axes` to `scattered`, all_reduce
  /// over the rest, movement to the target.
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

  /// (n-1)/n of the operand for a reduce_scatter, twice that for an all_reduce.
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
