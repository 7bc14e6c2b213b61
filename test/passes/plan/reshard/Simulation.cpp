//===- Simulation.cpp - Executes reshard plans on index sets --------------===//
#include "test/passes/plan/reshard/Simulation.h"
#include "sharding/ShardingText.h"

#include <algorithm>

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

std::vector<int64_t> Simulation::groupNumbers(const SubAxes &axes) const {
  std::vector<int64_t> number(mesh.size());
  std::vector<std::vector<int64_t>> groups = groupsOf(mesh, axes);
  for (size_t g = 0; g < groups.size(); ++g)
    for (int64_t rank : groups[g])
      number[rank] = static_cast<int64_t>(g);
  return number;
}

std::string Simulation::move(const ReshardStep &step) {
  std::vector<int64_t> group = groupNumbers(step.axes);
  std::vector<Elements> next(held.size(), Elements(numElements(shape), absent));
  for (int64_t rank = 0; rank < mesh.size(); ++rank)
    for (const ReshardPiece &piece :
         piecesOf(step, shape, mesh, mesh.coordinates(rank))) {
      if (group[piece.fromRank] != group[rank])
        return "takes from outside its group";
      for (int64_t element : elementsOf(piece.box)) {
        if (held[piece.fromRank][element] == absent)
          return "takes what the sender does not hold";
        if (next[rank][element] != absent)
          return "takes an element twice";
        next[rank][element] = held[piece.fromRank][element];
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

/// Returns the largest number of elements that a rank receives in a step that
/// moves elements.
static int64_t receivedElements(const ReshardStep &step, const Shape &shape,
                                const Mesh &mesh) {
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    int64_t sum = 0;
    for (const ReshardPiece &piece :
         piecesOf(step, shape, mesh, mesh.coordinates(rank)))
      sum += piece.fromRank == rank ? 0 : count(piece.box);
    most = std::max(most, sum);
  }
  return most;
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
    if (std::string error = ranks.execute(step); !error.empty())
      return name + error;
    if (std::string error = ranks.check(step.after); !error.empty())
      return name + error;
    bool reduces = step.kind == CollectiveKind::AllReduce ||
                   step.kind == CollectiveKind::ReduceScatter;
    if (!reduces && step.kind != CollectiveKind::Mask &&
        receivedElements(step, shape, mesh) * elementBytes !=
            step.receivedBytes)
      return name + "receives other bytes than it says";
    bytes += step.receivedBytes;
    current = step.after;
  }
  if (current != placement(to))
    return "ends as " + toBriefString(current, mesh);
  return bytes == plan.receivedBytes ? "" : "sums its bytes wrongly";
}

} // namespace pcc::plan
