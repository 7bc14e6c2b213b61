//===- MinCut.h - the cheapest way to part a network ----------------------===//

#ifndef PCC_PASSES_PLAN_STAGE_MINCUT_H
#define PCC_PASSES_PLAN_STAGE_MINCUT_H

#include <cstddef>
#include <limits>
#include <vector>

namespace pcc::plan {

/// A network of edges with capacities, of which the cheapest set is wanted that
/// parts a source from a sink (Dinic 1970): the largest flow fills it.
///
/// Invariant: the residuals of an edge and its reverse add up to the capacity.
class MinCut {
public:
  /// The capacity of an edge that must not be cut.
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  explicit MinCut(size_t numNodes) : edgesOf(numNodes) {}

  void addEdge(size_t from, size_t to, double capacity);

  /// For each node, whether it stays with the source when the cheapest edges
  /// are cut; among equally cheap cuts the one that keeps the fewest there. At
  /// least one edge of each path must be finite. Empties the network.
  std::vector<bool> sourceSide(size_t source, size_t sink);

private:
  struct FlowEdge {
    size_t to;
    double residual;
  };

  /// Breadth first, along edges with a residual. False if the sink is out of reach.
  bool findLevels(size_t source, size_t sink);
  /// Sends what one path of ascending levels takes; 0 if there is none.
  double augment(size_t source, size_t sink);

  /// FlowEdge e ^ 1 is the reverse of edge e.
  std::vector<FlowEdge> edges;
  std::vector<std::vector<size_t>> edgesOf;
  std::vector<int> levels;
  /// Edges of a node before this one lead nowhere at the current levels.
  std::vector<size_t> next;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_MINCUT_H
