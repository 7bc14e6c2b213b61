//===- BlockGraph.h - graph of a block with its shardings -----------------===//

#ifndef PCC_PASSES_EXPLAIN_BLOCKGRAPH_H
#define PCC_PASSES_EXPLAIN_BLOCKGRAPH_H

#include "passes/explain/ModelBlocks.h"

namespace pcc::explain {

/// Op of a block, or a value from outside that the block reads.
struct BlockNode {
  /// Kind of the node: "op", "weight", "collective", or "outside" for a value
  /// that is computed outside of the block. A collective without communication,
  /// such as a slice, has the kind "op".
  std::string kind;
  /// Name of the op without its dialect, such as "matmul"; for a collective,
  /// its kind, such as "all_reduce"; for a weight, "weight". Empty for an
  /// argument of the function, such as a model input.
  std::string op;
  /// Name of the weight, or of the ONNX node that computes the value; may be
  /// empty.
  std::string name;
  /// Sharding of the result, such as "[-, tp]"; empty if the op has none.
  std::string sharding;
  /// Element type and shape of the result on one rank, such as "f32[4, 64]".
  std::string type;
  /// Pipeline stage of the op.
  int64_t stage = 0;
  /// For each operand of the op, the index in BlockGraph::nodes of the node
  /// that computes the operand.
  std::vector<size_t> operands;
  /// Whether an op outside of the block reads the result.
  bool isReadOutside = false;
};

/// Forward pass of one block, on one rank.
struct BlockGraph {
  /// Name of the block. If several blocks have equal graphs, name of the first
  /// one. Empty if the model has no blocks; the graph then has the first ops of
  /// the model.
  std::string name;
  /// Number of blocks whose graphs are equal to this graph, except for names.
  int64_t count = 1;
  /// Number of ops that are left out, because a graph has at most 120 nodes.
  int64_t leftOut = 0;
  /// Nodes in the order of the program.
  std::vector<BlockNode> nodes;
};

/// Returns the graphs of the blocks of a model. Blocks whose graphs differ only
/// in names share one graph. For example, 12 equal layers give one graph with
/// the count 12. Graphs with the largest counts come first. Returns at most
/// four graphs.
std::vector<BlockGraph> graphsOf(const emit::ModelFacts &facts,
                                 const ModelBlocks &blocks);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_BLOCKGRAPH_H
