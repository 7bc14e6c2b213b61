//===- TopologicalOrder.h - topological order of nodes, or a cycle --------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H

#include <cstdint>
#include <vector>

namespace pcc::onnx {

/// A topological order of nodes, or a cycle as the proof that none exists.
/// Exactly one member is non-empty, unless there are no nodes.
struct TopologicalOrder {
  /// All nodes, each after its producers; empty if there is a cycle.
  std::vector<uint32_t> order;
  /// The nodes of one cycle, beginning with the smallest number; empty if there
  /// is none. Each node is a producer of the next one, and the last node is a
  /// producer of the first.
  std::vector<uint32_t> cycle;
};

/// Sorts nodes topologically (Kahn 1962). Entry i of `producers` lists the
/// nodes whose results node i needs; a node that lists itself is a cycle of
/// length one. Among the nodes that are ready, the one with the smallest number
/// comes next. Therefore an input in topological order keeps its order.
TopologicalOrder
sortTopologically(const std::vector<std::vector<uint32_t>> &producers);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
