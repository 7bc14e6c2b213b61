//===- MinCut.h - minimum cut by maximum flow (Dinic 1970) ----------------===//

#ifndef PCC_PASSES_PLAN_STAGE_MINCUT_H
#define PCC_PASSES_PLAN_STAGE_MINCUT_H

#include <cstddef>
#include <limits>
#include <vector>

namespace pcc::plan {

/// A directed network with capacities, in which sourceSide finds a minimum cut:
/// the edges with the least total capacity whose removal separates the sink
/// from the source. By Dinic's algorithm, a maximum flow fills these edges to
/// capacity.
///
/// Invariant: the residuals of an edge and of its reverse edge add up to the
/// capacity of the edge.
class MinCut {
public:
  /// The capacity of an edge that must not be cut.
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// Creates a network with the nodes 0 to numNodes - 1 and no edges.
  explicit MinCut(size_t numNodes) : edgesOf(numNodes) {}

  /// Adds an edge with a capacity of at least 0. Parallel edges are allowed.
  void addEdge(size_t from, size_t to, double capacity);

  /// Returns, by node, whether it is on the side of the source in a minimum
  /// cut. If several cuts are equally cheap, takes the one with the fewest
  /// nodes on that side. Every path from source to sink must have an edge that
  /// is not infinite. Must be called only once, because the network is empty
  /// afterwards.
  std::vector<bool> sourceSide(size_t source, size_t sink);

private:
  struct FlowEdge {
    size_t to;
    /// Capacity that is still free: the edge can take this much additional
    /// flow.
    double residual;
  };

  /// Sets `levels` (distances from the source) by a breadth-first search along
  /// edges with a residual. Returns whether the sink can be reached.
  bool findLevels(size_t source, size_t sink);
  /// Sends flow along one path on which each edge leads to the next level, as
  /// much as the path can take. Returns the amount; 0 if there is no such path.
  double augment(size_t source, size_t sink);

  /// All edges. Edges 2k and 2k + 1 are each other's reverse.
  std::vector<FlowEdge> edges;
  /// For each node: indices in `edges` of the edges that leave the node.
  std::vector<std::vector<size_t>> edgesOf;
  /// For each node: distance from the source in edges; -1 if the node cannot be
  /// reached.
  std::vector<int> levels;
  /// For each node: index in edgesOf[node] of the first edge that may still
  /// lead to the sink at the current levels. The edges before it lead nowhere.
  std::vector<size_t> next;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_MINCUT_H
