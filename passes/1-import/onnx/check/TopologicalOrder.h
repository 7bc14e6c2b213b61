//===- TopologicalOrder.h - topological order of nodes, or a cycle --------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H

#include <cstdint>
#include <vector>

namespace pcc::onnx {

/// A topological order of nodes or, if no such order exists, a cycle that
/// proves this. Exactly one member is non-empty; both are empty if there are no
/// nodes.
struct TopologicalOrder {
  /// Indices of all nodes, each after the nodes whose results it needs; empty
  /// if there is a cycle.
  std::vector<uint32_t> order;
  /// Indices of the nodes of one cycle, beginning with the smallest; empty if
  /// there is an order. Each node's result is used by the next node, and the
  /// last node's result by the first.
  std::vector<uint32_t> cycle;
};

/// Sorts nodes topologically (Kahn 1962). Entry i of `producers` lists the
/// nodes whose results node i needs. A node that lists itself is a cycle of
/// length one. If several nodes could come next, the node with the smallest
/// index comes next. Nodes that are already in topological order therefore keep
/// their order.
TopologicalOrder
sortTopologically(const std::vector<std::vector<uint32_t>> &producers);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
