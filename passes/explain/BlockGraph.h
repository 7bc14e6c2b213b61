//===- BlockGraph.h - graph of a block with its shardings -----------------===//

#ifndef PCC_PASSES_EXPLAIN_BLOCKGRAPH_H
#define PCC_PASSES_EXPLAIN_BLOCKGRAPH_H

#include "passes/explain/ModelBlocks.h"

namespace pcc::explain {

/// Op of a block, or a value that comes from outside.
struct BlockNode {
  /// `op`, `weight`, `collective`, or `outside` for a value from elsewhere.
  std::string kind;
  /// Name of the op without its dialect, such as "matmul"; kind of a
  /// collective.
  std::string op;
  /// Name of the ONNX node, of the weight, or of the value.
  std::string name;
  /// Sharding of the result, such as "[-, tp]"; empty if the op has none.
  std::string sharding;
  /// Element type and shape of the result on one rank, such as "f32[4, 64]".
  std::string type;
  /// Pipeline stage of the op.
  int64_t stage = 0;
  /// Numbers of the nodes that make the operands, in the order of operands.
  std::vector<size_t> operands;
  /// Whether an op outside of the block reads the result.
  bool isReadOutside = false;
};

/// Forward pass of one block, on one rank.
struct BlockGraph {
  /// Name of the first such block. Empty if the model has no blocks; the graph
  /// then has the first ops of the model.
  std::string name;
  /// Number of blocks that have an equal graph, names aside.
  int64_t count = 1;
  /// Number of ops that are left out, because a graph has at most 120 nodes.
  int64_t leftOut = 0;
  /// Nodes in the order of the program.
  std::vector<BlockNode> nodes;
};

/// Returns the graphs of the blocks that differ in more than names, those of
/// most blocks first, at most four.
std::vector<BlockGraph> graphsOf(const emit::ModelFacts &facts,
                                 const ModelBlocks &blocks);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_BLOCKGRAPH_H
