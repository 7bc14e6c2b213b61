//===- Simulation.cpp - Executes reshard plans on index sets --------------===//
#include "test/passes/plan/reshard/Simulation.h"
#include "passes/plan/reshard/SingleStep.h"
#include "sharding/ShardingText.h"

#include <algorithm>
#include <set>

using namespace pcc::dist;

namespace pcc::plan {

std::vector<int64_t>
Simulation::elementsOf(const std::vector<Runs> &box) const {
  std::vector<int64_t> elements = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (const Run &run : box[d])
        for (int64_t i = run.lo; i < run.hi; ++i)
          next.push_back(element * shape[d] + i);
    elements = std::move(next);
  }
  return elements;
}

Simulation::Simulation(const Mesh &mesh, const Shape &shape,
                       const Sharding &start)
    : mesh(mesh), shape(shape), startPartial(partialAxes(start)) {
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    Coordinates where = mesh.coordinates(rank);
    held.emplace_back(numElements(shape), absent);
    for (int64_t element : elementsOf(runsOf(start, shape, mesh, where)))
      held.back()[element] = uint64_t{1}
                             << coordinateOf(startPartial, mesh, where);
  }
}

bool Simulation::permutes(const ReshardStep &step,
                          const std::vector<int64_t> &group) const {
  std::multiset<std::vector<int64_t>> before, after;
  for (int64_t rank : group) {
    const Coordinates where = mesh.coordinates(rank);
    before.insert(elementsOf(runsOf(step.before, shape, mesh, where)));
    after.insert(elementsOf(runsOf(step.after, shape, mesh, where)));
  }
  return before == after;
}

std::string Simulation::move(const ReshardStep &step) {
  std::vector<Elements> next(held.size(), Elements(numElements(shape), absent));
  for (const std::vector<int64_t> &group : groupsOf(mesh, step.axes)) {
    if (step.kind == CollectiveKind::Permute && !permutes(step, group))
      return "hands on other shards than those of its group";
    for (int64_t rank : group) {
      int64_t received = 0;
      for (int64_t element : elementsOf(
               runsOf(step.after, shape, mesh, mesh.coordinates(rank)))) {
        const auto holds = [&](int64_t peer) {
          return held[peer][element] != absent;
        };
        const auto holder = std::find_if(group.begin(), group.end(), holds);
        if (holder == group.end())
          return "needs an element that nobody in its group holds";
        received += !holds(rank);
        next[rank][element] = held[holds(rank) ? rank : *holder][element];
      }
      mostReceived = std::max(mostReceived, received);
    }
  }
  held = std::move(next);
  return "";
}

std::string Simulation::reduce(const ReshardStep &step) {
  std::vector<Elements> next(held.size(), Elements(numElements(shape), absent));
  for (const std::vector<int64_t> &group : groupsOf(mesh, step.axes))
    for (int64_t rank : group)
      for (int64_t element : elementsOf(
               runsOf(step.after, shape, mesh, mesh.coordinates(rank)))) {
        uint64_t all = 0;
        for (int64_t peer : group) {
          if (held[peer][element] == absent || (all & held[peer][element]))
            return "reduces what a peer does not hold, or twice";
          all |= held[peer][element];
        }
        next[rank][element] = all;
      }
  held = std::move(next);
  return "";
}

void Simulation::mask(const ReshardStep &step) {
  for (int64_t rank = 0; rank < mesh.size(); ++rank)
    if (coordinateOf(step.axes, mesh, mesh.coordinates(rank)) != 0)
      for (uint64_t &element : held[rank])
        element = element == absent ? absent : 0;
}

std::string Simulation::execute(const ReshardStep &step) {
  mostReceived = 0;
  if (step.kind == CollectiveKind::Mask)
    return mask(step), "";
  bool reduces = step.kind == CollectiveKind::AllReduce ||
                 step.kind == CollectiveKind::ReduceScatter;
  return reduces ? reduce(step) : move(step);
}

/// The contributions are those of all ranks that agree with the rank along the
/// axes that are still partial. Masked ranks have no contribution, ranks at
/// coordinate 0 have all.
std::string Simulation::check(const Sharding &end) const {
  SubAxes masked = partialAxes(end), kept;
  for (const SubAxis &start : startPartial) {
    SubAxes rest;
    for (const SubAxis &axis : masked) {
      if (std::optional<SubAxis> both = overlap(axis, start))
        kept.push_back(*both);
      for (const SubAxis &other : without(axis, start))
        rest.push_back(other);
    }
    masked = rest;
  }
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    uint64_t expected = 0;
    for (int64_t peer = 0; peer < mesh.size(); ++peer)
      if (coordinateOf(kept, mesh, mesh.coordinates(peer)) ==
          coordinateOf(kept, mesh, mesh.coordinates(rank)))
        expected |= uint64_t{1}
                    << coordinateOf(startPartial, mesh, mesh.coordinates(peer));
    if (coordinateOf(masked, mesh, mesh.coordinates(rank)) != 0)
      expected = 0;
    Elements wanted(numElements(shape), absent);
    for (int64_t element :
         elementsOf(runsOf(end, shape, mesh, mesh.coordinates(rank))))
      wanted[element] = expected;
    if (wanted != held[rank])
      return "rank " + std::to_string(rank) +
             " ends with the wrong elements or contributions";
  }
  return "";
}

/// Returns an error unless `step` is what singleStep() finds between its
/// shardings: the kind, the axes of communication and the received bytes.
static std::string compareSingle(const ReshardStep &step, const Shape &shape,
                                 int64_t elementBytes, const Mesh &mesh) {
  const auto found =
      singleStep(step.before, step.after, shape, elementBytes, mesh);
  if (!found)
    return found.status().message();
  if (found->kind != step.kind || found->axes != step.axes)
    return std::string("is a single ") + toString(found->kind);
  return found->receivedBytes == step.receivedBytes
             ? ""
             : "receives other bytes than a single step";
}

std::string simulate(const ReshardPlan &plan, const Sharding &from,
                     const Sharding &to, const Shape &shape,
                     int64_t elementBytes, const Mesh &mesh) {
  if (!plan.possible())
    return plan.error;
  Simulation ranks(mesh, shape, from);
  Sharding current = placement(from);
  int64_t bytes = 0;
  for (const ReshardStep &step : plan.steps) {
    std::string name = std::string(toString(step.kind)) + " to " +
                       toBriefString(step.after, mesh) + ": ";
    if (step.before != current)
      return name + "does not start where the one before ended";
    if (std::optional<std::string> error = findError(step.after, mesh, shape))
      return name + *error;
    if (std::string error = compareSingle(step, shape, elementBytes, mesh);
        !error.empty())
      return name + error;
    if (std::string error = ranks.execute(step); !error.empty())
      return name + error;
    if (std::string error = ranks.check(step.after); !error.empty())
      return name + error;
    bool reduces = step.kind == CollectiveKind::AllReduce ||
                   step.kind == CollectiveKind::ReduceScatter;
    if (!reduces && step.kind != CollectiveKind::Mask &&
        ranks.received() * elementBytes != step.receivedBytes)
      return name + "receives other bytes than it says";
    bytes += step.receivedBytes;
    current = step.after;
  }
  if (current != placement(to))
    return "ends as " + toBriefString(current, mesh);
  return bytes == plan.receivedBytes ? "" : "sums its bytes wrongly";
}

} // namespace pcc::plan
