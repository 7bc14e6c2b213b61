//===- MinCut.h - minimum cut by maximum flow (Dinic 1970) ----------------===//

#ifndef PCC_PASSES_PLAN_STAGE_MINCUT_H
#define PCC_PASSES_PLAN_STAGE_MINCUT_H

#include <cstddef>
#include <limits>
#include <vector>

namespace pcc::plan {

/// A network of directed edges with capacities. It finds the cheapest set of
/// edges whose removal separates a sink from a source. By Dinic's algorithm, a
/// maximum flow saturates these edges.
///
/// Invariant: the residuals of an edge and of its reverse add up to the
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
  /// cut. Among equally cheap cuts, takes the one with the fewest nodes on that
  /// side. Every path from source to sink must have a finite edge. The network
  /// is empty afterwards, so this can be called once.
  std::vector<bool> sourceSide(size_t source, size_t sink);

private:
  struct FlowEdge {
    size_t to;
    /// Flow that the edge can take in addition.
    double residual;
  };

  /// Sets `levels` by a breadth-first search along edges with a residual.
  /// Returns whether the sink can be reached.
  bool findLevels(size_t source, size_t sink);
  /// Sends as much flow as possible along one path whose levels ascend. Returns
  /// the flow; 0 if there is no such path.
  double augment(size_t source, size_t sink);

  /// All edges. Edge e ^ 1 is the reverse of edge e.
  std::vector<FlowEdge> edges;
  /// By node: indices of its outgoing edges.
  std::vector<std::vector<size_t>> edgesOf;
  /// By node: number of edges from the source; -1 if it cannot be reached.
  std::vector<int> levels;
  /// By node: index in `edgesOf` of the first edge that may still lead to the
  /// sink at the current levels.
  std::vector<size_t> next;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_MINCUT_H
