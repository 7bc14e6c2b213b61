//===- TopologicalOrder.h - topological order of nodes, or a cycle --------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H

#include <cstdint>
#include <vector>

namespace pcc::onnx {

/// Result of sortTopologically: either a topological order of the nodes or a
/// cycle.
struct TopologicalOrder {
  /// Indices of all nodes, each after the nodes whose results it needs; empty
  /// if there is a cycle.
  std::vector<uint32_t> order;
  /// Indices of the nodes of one cycle; empty if there is an order. Each node
  /// reads a result of the node before it. The first node reads a result of the
  /// last. The smallest index comes first.
  std::vector<uint32_t> cycle;
};

/// Sorts nodes topologically (Kahn 1962). producers[i] lists the nodes whose
/// results node i needs. If several nodes could come next, takes the smallest
/// index, so that nodes already in order keep their order.
TopologicalOrder
sortTopologically(const std::vector<std::vector<uint32_t>> &producers);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
