//===- ContractionWeights.h - weights that tensor parallelism must divide -===//

#ifndef PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Returns whether `op` is a contraction, such as a matmul or a convolution.
/// `op` may be null.
bool isContraction(mlir::Operation *op);

/// Returns whether `op` only changes the layout or the element type of its one
/// operand. `op` may be null.
bool isLayoutOrCast(mlir::Operation *op);

/// Returns the `graph.get_parameter` op that reads the weight `value`. Looks
/// through ops that only change the layout or the element type, such as a
/// transpose. Returns null if `value` is no weight.
graph::GetParameterOp weightOf(mlir::Value value);

/// The large weights of contractions (matmul, einsum, convolution), which
/// tensor parallelism must divide among ranks. A weight is large if it has more
/// than 1 % of the bytes of all contraction weights in one transformer block.
/// The number of blocks is estimated: it is the number of weights with the most
/// frequent shape. Both the contraction and the `graph.get_parameter` op of a
/// large weight must split the weight.
class ContractionWeights {
public:
  /// Finds the large weights of contractions in `graph`. The graph may be
  /// destroyed before this object.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the bytes of the large weight of node `index` of the graph, a
  /// contraction or a `graph.get_parameter`. Returns 0 for any other node, and
  /// for a weight that is not large.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether node `index` must split its weight over the sub-axis
  /// `axis`. The result is true if the weight is large, and if some dim of the
  /// weight has enough elements to be split over `axis` in addition to the axes
  /// that already split this dim. `op` is the node with the axes that split its
  /// loop dims so far.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Returns whether `candidate`, a way of splitting node `index` of the graph,
  /// splits the weight of this node over the sub-axis `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  /// The weight of one node of the graph. The node is a contraction that has
  /// the weight as an operand, or the `graph.get_parameter` whose result is the
  /// weight.
  struct Weight {
    /// Bytes of the whole weight. It is 0 if the weight is not large. A weight
    /// is large if it has more than 1 % of the bytes of all contraction weights
    /// in one transformer block.
    double bytes = 0;
    /// Index of the operand that is the weight, if the node is a contraction.
    /// std::nullopt if the node is a `graph.get_parameter`, whose result is the
    /// weight.
    std::optional<unsigned> operand;

    /// Returns the loop dims of each dim of the weight, as indices into
    /// `rule.factors`. `rule` is the sharding rule of the node.
    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  /// Maps a node of the graph to its weight. The keys are the contractions that
  /// have a weight as an operand, and the `graph.get_parameter` ops that return
  /// these weights.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
