//===- TopologicalOrder.h - puts producers before consumers ---------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H

#include <cstdint>
#include <vector>

namespace pcc::onnx {

/// An order of nodes, or a proof that there is none.
struct TopologicalOrder {
  /// All nodes, each after its producers; empty if there is a cycle.
  std::vector<uint32_t> order;
  /// Nodes of one cycle, each the producer of the next, the last that of the
  /// first; empty if there is none.
  std::vector<uint32_t> cycle;
};

/// Entry i of `producers` lists the nodes that node i needs (i itself is a
/// cycle of one). Of the nodes that may come next, the lowest number does: a
/// topological input keeps its order.
TopologicalOrder
sortTopologically(const std::vector<std::vector<uint32_t>> &producers);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_TOPOLOGICALORDER_H
