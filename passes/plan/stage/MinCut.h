//===- MinCut.h - minimum cut by maximum flow (Dinic 1970) ----------------===//

#ifndef PCC_PASSES_PLAN_STAGE_MINCUT_H
#define PCC_PASSES_PLAN_STAGE_MINCUT_H

#include <cstddef>
#include <limits>
#include <vector>

namespace pcc::plan {

/// Directed network in which each edge has a capacity. sourceSide() finds a
/// minimum cut by Dinic's maximum-flow algorithm. Invariant: the residuals
/// (remaining capacities) of an edge and of its reverse edge add up to the
/// capacity of the edge.
class MinCut {
public:
  /// Capacity of an edge that must not be in the cut.
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// Creates a network with the nodes 0 to numNodes - 1 and no edges.
  explicit MinCut(size_t numNodes) : edgesOf(numNodes) {}

  /// Adds an edge with a capacity of at least 0. Parallel edges are allowed.
  void addEdge(size_t from, size_t to, double capacity);

  /// Returns for each node whether it is on the source's side of a minimum cut
  /// between `source` and `sink`. If there are several minimum cuts, takes the
  /// one with the fewest nodes on this side. Every path must have an edge of
  /// finite capacity. Must be called only once.
  std::vector<bool> sourceSide(size_t source, size_t sink);

private:
  struct FlowEdge {
    size_t to;
    /// Remaining capacity for more flow.
    double residual;
  };

  /// Sets levels[n] for each node n: the number of edges on the shortest path
  /// from the source to n. A path may use only edges whose residual is greater
  /// than 0. The residual of an edge is the amount of flow that can still be
  /// sent along the edge. If no path leads to n, levels[n] is -1. Returns
  /// whether a path leads to the sink. The search is breadth-first.
  bool findLevels(size_t source, size_t sink);
  /// Sends as much flow as possible along one path from the source to the sink.
  /// Returns this flow, or 0 if there is no path. Each edge of the path has a
  /// residual (remaining capacity) and leads from one level (distance from the
  /// source) to the next.
  double augment(size_t source, size_t sink);

  /// All edges. Edge 2k + 1 is the reverse of edge 2k.
  std::vector<FlowEdge> edges;
  /// For each node: indices in `edges` of the edges that leave the node.
  std::vector<std::vector<size_t>> edgesOf;
  /// For each node: distance from the source in edges; -1 if the node cannot be
  /// reached.
  std::vector<int> levels;
  /// next[n] is an index into edgesOf[n], the list of edges that leave node n.
  /// `augment` has tried all edges before this index and has found that they do
  /// not lead to the sink. It does not try these edges again until `findLevels`
  /// has set new levels and `next` is reset to 0.
  std::vector<size_t> next;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_MINCUT_H
