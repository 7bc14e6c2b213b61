//===- SingleStep.cpp - the one collective between two shardings ----------===//

#include "passes/plan/reshard/SingleStep.h"
#include "passes/plan/reshard/ReshardMove.h"
#include "passes/plan/reshard/ReshardReduce.h"

using namespace pcc::dist;

namespace pcc::plan {

Sharding placementOnRanks(const Sharding &sharding) {
  return dropPartials(placement(sharding), partialAlongTime(sharding));
}

static Status impossible(const char *why) {
  return Status::error(CannotRead, why);
}

namespace {
/// Finds the step between two shardings that are partial along different axes.
class PartialStep {
public:
  PartialStep(const Sharding &from, const Sharding &to, const Shape &shape,
              int64_t elementBytes, const Mesh &mesh)
      : from(from), to(to), shape(shape), elementBytes(elementBytes),
        mesh(mesh) {}

  StatusOr<ReshardStep> find() const {
    const auto reduced = subtract(partialAxes(from), partialAxes(to)),
               added = subtract(partialAxes(to), partialAxes(from));
    if (!reduced || !added)
      return impossible("their partial axes do not align");
    if (dropPartials(from, *reduced).partials !=
        dropPartials(to, *added).partials)
      return impossible("a partial value cannot change its kind of reduction");
    if (reduced->empty())
      return mask(*added);
    return added->empty() ? reduce(*reduced) : several();
  }

private:
  static Status several() {
    return impossible("a tensor needs more than one collective");
  }

  StatusOr<ReshardStep> mask(const SubAxes &added) const {
    if (from.dims != to.dims)
      return several();
    return ReshardStep{CollectiveKind::Mask,
                       inMeshOrder(added, mesh),
                       from,
                       to,
                       localBytes(from, shape, elementBytes),
                       0};
  }

  StatusOr<ReshardStep> reduce(const SubAxes &reduced) const {
    if (from.dims == to.dims)
      return reductionStep(CollectiveKind::AllReduce, reduced, from, to, shape,
                           elementBytes, mesh);
    const auto split = subtract(splitAxes(to), splitAxes(from));
    if (!split || inMeshOrder(*split, mesh) != inMeshOrder(reduced, mesh) ||
        !isFree(dropPartials(from, reduced), to, shape))
      return several();
    return reductionStep(CollectiveKind::ReduceScatter, reduced, from, to,
                         shape, elementBytes, mesh);
  }

  const Sharding &from, &to;
  const Shape &shape;
  int64_t elementBytes;
  const Mesh &mesh;
};
} // namespace

StatusOr<ReshardStep> singleStep(const Sharding &from, const Sharding &to,
                                 const Shape &shape, int64_t elementBytes,
                                 const Mesh &mesh) {
  const Sharding start = placementOnRanks(from), end = placementOnRanks(to);
  if (start == end)
    return impossible("a tensor needs no collective");
  if (start.partials != end.partials)
    return PartialStep(start, end, shape, elementBytes, mesh).find();
  Movement movement(start, end, shape);
  if (hasView(start) || !movement.aligned())
    return impossible("a tensor needs more than one collective");
  return movementStep(movement, start, end, shape, elementBytes, mesh);
}

} // namespace pcc::plan
