//===- ReshardSteps.cpp - reshard plans without a reduction ---------------===//
//
// A single step reaches the lower bound of received bytes for any two
// shardings whose sub-axes align. The search is therefore over the kind of the
// step, and over a slice before it. Splitting a gather by axis saves nothing,
// because its price is already that of its parts within and between nodes.
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
    plan.seconds += prices.seconds(step.kind, step.axes, step.receivedBytes);
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

ReshardStep movementStep(Movement &movement, const Sharding &from,
                         const Sharding &to, const Shape &shape,
                         int64_t elementBytes, const Mesh &mesh) {
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
  return step;
}

namespace {
/// Plans how the ranks change one tensor from a first sharding to a second
/// sharding. The two shardings split the dims of the tensor differently. A plan
/// is a list of steps, such as a slice or an all-gather. No step is a
/// reduction. A sharding can have partial axes: the ranks along a partial axis
/// hold partial tensors that still need a reduction, such as a sum. The first
/// and the second sharding must have equal partial axes.
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
    return best;
  }

private:
  static ReshardPlan impossible(std::string why) {
    ReshardPlan plan;
    plan.error = std::move(why);
    return plan;
  }

  /// Returns a plan with a single step, which changes the tensor from the
  /// sharding `from` to the sharding `to`. The step is a slice if each rank
  /// already holds all elements that it needs under `to`. Otherwise, the step
  /// is one collective, such as an all-gather. `movement` is constructed from
  /// `from` and `to`. Sets `error` of the plan if elements would move from one
  /// microbatch to another microbatch.
  ReshardPlan planOneStep(Movement &movement, const Sharding &from,
                          const Sharding &to) {
    ReshardPlan plan;
    ReshardStep step =
        movementStep(movement, from, to, shape, elementBytes, mesh);
    for (const SubAxis &axis : step.axes)
      if (axis.axis == timeAxis)
        plan.error = "elements would move between microbatches";
    append(plan, std::move(step), prices);
    return plan;
  }

  /// Returns the sharding between two steps that change the tensor from `from`
  /// to `to`. The first step is a slice, and the second step is one collective.
  /// The caller must check that both steps are possible. Returns std::nullopt
  /// if a dim would have shards of different sizes. Example:
  ///
  ///   from [x, -]    between the steps [x, y]    to [-, x+y]
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

  /// Replaces `best`, which is a single exchange (point-to-point sends), by a
  /// plan of two steps if this plan costs no more. The first step is a slice.
  /// The second step is a collective that is no exchange, such as an
  /// all-to-all. `movement` is constructed from `from` and `to`.
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

  /// Returns a plan that gathers the whole tensor on every rank, and then
  /// slices it. The plan is for shardings `from` and `to` with sub-axes of one
  /// mesh axis that have no common refinement. Example: in a mesh axis of 6
  /// ranks, `from` uses the 2 halves of the axis, and `to` uses its 3 thirds.
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
