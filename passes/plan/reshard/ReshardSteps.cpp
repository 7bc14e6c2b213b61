//===- ReshardSteps.cpp - reshard plans without a reduction ---------------===//
//
// A single step reaches the lower bound of received bytes for any two
// shardings whose sub-axes align. The search is therefore over the kind of the
// step, over a slice before it, and, if links have different prices, over
// splitting it by axis.
//
//===----------------------------------------------------------------------===//
#include "passes/plan/reshard/ReshardMove.h"

#include <algorithm>
#include <cassert>

using namespace pcc::dist;

namespace pcc::plan {

int64_t localBytes(const Sharding &sharding, const Shape &shape,
                   int64_t elementBytes) {
  return numElements(localShape(sharding, shape)) * elementBytes;
}

void append(ReshardPlan &plan, ReshardStep step, const Prices &prices) {
  assert(step.receivedBytes >= 0 && "negative bytes");
  if (communicates(step.kind)) {
    ++plan.calls;
    plan.receivedBytes += step.receivedBytes;
    plan.seconds += prices.seconds(step.axes, step.receivedBytes);
  }
  plan.steps.push_back(std::move(step));
}

void append(ReshardPlan &plan, const ReshardPlan &more) {
  plan.steps.insert(plan.steps.end(), more.steps.begin(), more.steps.end());
  plan.calls += more.calls;
  plan.receivedBytes += more.receivedBytes;
  plan.seconds += more.seconds;
  if (plan.possible())
    plan.error = more.error;
}

bool isFree(const Sharding &from, const Sharding &to, const Shape &shape) {
  Movement movement(from, to, shape);
  return movement.aligned() && movement.lowerBound() == 0;
}

bool isCheaper(const ReshardPlan &a, const ReshardPlan &b) {
  if (a.possible() != b.possible())
    return a.possible();
  return std::pair(a.seconds, a.calls) < std::pair(b.seconds, b.calls);
}

namespace {
/// Plans movements of the elements of one tensor, without a reduction. All
/// shardings of a plan have equal partial axes.
class MovementPlanner {
public:
  MovementPlanner(const Shape &shape, int64_t elementBytes, const Mesh &mesh,
                  const Prices &prices)
      : shape(shape), elementBytes(elementBytes), mesh(mesh), prices(prices) {}

  /// Returns the cheapest plan from `from` to `to`. Sets `error` of the result
  /// if there is none.
  ReshardPlan plan(const Sharding &from, const Sharding &to) {
    if (from.dims == to.dims)
      return {};
    if (hasView(from))
      return impossible("nothing moves on from a view");
    Movement movement(from, to, shape);
    if (!movement.aligned())
      return planUnaligned(from, to);
    ReshardPlan best = planOneStep(movement, from, to);
    if (best.possible() && !best.steps.empty() &&
        best.steps[0].kind == CollectiveKind::Exchange && !hasView(to))
      considerSliceFirst(movement, from, to, best);
    if (!prices.axes.empty())
      considerOneAxisFirst(from, to, best);
    return best;
  }

private:
  static ReshardPlan impossible(std::string why) {
    ReshardPlan plan;
    plan.error = std::move(why);
    return plan;
  }

  /// Returns a plan with one step, which performs the whole movement.
  ReshardPlan planOneStep(Movement &movement, const Sharding &from,
                          const Sharding &to) {
    ReshardPlan plan;
    ReshardStep step{CollectiveKind::Slice,
                     {},
                     from,
                     to,
                     localBytes(from, shape, elementBytes),
                     0};
    step.receivedBytes = movement.lowerBound() * elementBytes;
    if (step.receivedBytes != 0) {
      std::vector<int> group = movement.communicated();
      step.kind = movement.classify(group);
      step.axes = inMeshOrder(movement.groupAxes(step.kind, group), mesh);
    }
    for (const SubAxis &axis : step.axes)
      if (axis.axis == timeAxis)
        plan.error = "elements would move between microbatches";
    append(plan, std::move(step), prices);
    return plan;
  }

  /// Returns a sharding to which `from` can first be sliced. One named
  /// collective, such as an all-to-all, can then do the rest of the movement,
  /// in place of an exchange (pairwise sends). Returns std::nullopt if there is
  /// no such sharding.
  ///  - A dim that loses axes stays as in `from`.
  ///  - Any other dim becomes as in `to`, but not split over the axes along
  ///    which ranks communicate.
  ///
  /// Example with an axis x of size 4, along which ranks communicate:
  ///   from [x, -] to [-, x+y]: slice to [x, 4|N/4@y], then all_to_all over x
  std::optional<Sharding> sliceBefore(Movement &movement, const Sharding &from,
                                      const Sharding &to) {
    SubAxes group =
        movement.groupAxes(CollectiveKind::Exchange, movement.communicated());
    Sharding middle = from;
    for (size_t d = 0; d < shape.size(); ++d) {
      std::optional<SubAxes> lost =
          subtract(from.dims[d].axes(), to.dims[d].axes());
      if (!lost || !lost->empty())
        continue;
      std::optional<DimSharding> rest = withoutAxes(to.dims[d], group);
      if (!rest)
        return std::nullopt;
      middle.dims[d] = *rest;
    }
    return middle;
  }

  /// Tries to improve the plan `best`, which is one exchange (pairwise sends).
  /// Makes a plan of a slice and a named collective, such as an all-to-all.
  /// This plan replaces `best` if it costs no more.
  void considerSliceFirst(Movement &movement, const Sharding &from,
                          const Sharding &to, ReshardPlan &best) {
    std::optional<Sharding> middle = sliceBefore(movement, from, to);
    if (!middle || middle->dims == from.dims ||
        findError(*middle, mesh, shape) || !isFree(from, *middle, shape))
      return;
    Movement rest(*middle, to, shape);
    if (!rest.aligned())
      return;
    ReshardPlan plan, second = planOneStep(rest, *middle, to);
    append(plan,
           {CollectiveKind::Slice,
            {},
            from,
            *middle,
            localBytes(from, shape, elementBytes),
            0},
           prices);
    append(plan, second);
    if (second.steps[0].kind != CollectiveKind::Exchange &&
        !isCheaper(best, plan))
      best = std::move(plan);
  }

  /// Tries to improve the plan `best` if it is one all-gather over several
  /// axes: gathers along one of these axes first. This can be cheaper if links
  /// differ in speed, because shards are still small during the first
  /// all-gather. The cheapest plan replaces `best`.
  void considerOneAxisFirst(const Sharding &from, const Sharding &to,
                            ReshardPlan &best) {
    if (best.steps.size() != 1 ||
        best.steps[0].kind != CollectiveKind::AllGather ||
        best.steps[0].axes.size() < 2)
      return;
    for (const SubAxis &first : SubAxes(best.steps[0].axes)) {
      Sharding middle = from;
      bool possible = true;
      for (DimSharding &dim : middle.dims) {
        std::optional<DimSharding> rest = withoutAxes(dim, {first});
        possible &= rest.has_value();
        dim = rest.value_or(dim);
      }
      if (!possible)
        continue;
      ReshardPlan candidate = plan(from, middle);
      append(candidate, plan(middle, to));
      if (isCheaper(candidate, best))
        best = std::move(candidate);
    }
  }

  /// Returns a plan between shardings whose sub-axes do not align, such as
  /// halves and thirds of an axis of 6: gathers the whole tensor, then slices
  /// it.
  ReshardPlan planUnaligned(const Sharding &from, const Sharding &to) {
    Sharding middle = Sharding::whole(shape.size());
    middle.partials = from.partials;
    ReshardPlan result = plan(from, middle);
    append(result, plan(middle, to));
    return result;
  }

  const Shape &shape;
  int64_t elementBytes;
  const Mesh &mesh;
  const Prices &prices;
};
} // namespace

ReshardPlan planMovement(const Sharding &from, const Sharding &to,
                         const Shape &shape, int64_t elementBytes,
                         const Mesh &mesh, const Prices &prices) {
  return MovementPlanner(shape, elementBytes, mesh, prices).plan(from, to);
}

} // namespace pcc::plan
