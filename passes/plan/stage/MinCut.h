//===- MinCut.h - minimum cut by maximum flow (Dinic 1970) ----------------===//

#ifndef PCC_PASSES_PLAN_STAGE_MINCUT_H
#define PCC_PASSES_PLAN_STAGE_MINCUT_H

#include <cstddef>
#include <limits>
#include <vector>

namespace pcc::plan {

/// A directed network with capacities. sourceSide finds a minimum cut: the
/// edges with the least total capacity whose removal separates the sink from
/// the source. It computes a maximum flow by Dinic's algorithm. This flow fills
/// the edges of the cut to capacity.
///
/// Invariant: the residuals of an edge and of its reverse edge add up to the
/// capacity of the edge.
class MinCut {
public:
  /// Capacity of an edge that must not be in the cut.
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// Creates a network with the nodes 0 to numNodes - 1 and no edges.
  explicit MinCut(size_t numNodes) : edgesOf(numNodes) {}

  /// Adds an edge with a capacity of at least 0. Parallel edges are allowed.
  void addEdge(size_t from, size_t to, double capacity);

  /// Returns, by node, whether the node is on the side of the source in a
  /// minimum cut. If several cuts have the least capacity, returns the one with
  /// the fewest nodes on that side. Every path from source to sink must have an
  /// edge that is not infinite. Must be called only once, because the network
  /// is empty afterwards.
  std::vector<bool> sourceSide(size_t source, size_t sink);

private:
  struct FlowEdge {
    size_t to;
    /// Residual capacity: the edge can carry this much additional flow.
    double residual;
  };

  /// Sets `levels` (distances from the source) by a breadth-first search along
  /// edges with a residual. Returns whether the sink can be reached.
  bool findLevels(size_t source, size_t sink);
  /// Sends as much flow as possible along one path from the source to the sink.
  /// Each edge of the path leads to the next level. Returns the amount of the
  /// flow; 0 if there is no such path.
  double augment(size_t source, size_t sink);

  /// All edges. Edge 2k + 1 is the reverse of edge 2k.
  std::vector<FlowEdge> edges;
  /// For each node: indices in `edges` of the edges that leave the node.
  std::vector<std::vector<size_t>> edgesOf;
  /// For each node: distance from the source in edges; -1 if the node cannot be
  /// reached.
  std::vector<int> levels;
  /// For each node: index in edgesOf[node] of the first edge that may still
  /// lead to the sink at the current levels. The search has found that the
  /// edges before it do not lead to the sink.
  std::vector<size_t> next;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_MINCUT_H
