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

/// Returns the op that reads a weight, if its result is `value`, or if only
/// layout ops and casts lie between its result and `value`. Otherwise returns
/// null.
graph::GetParameterOp weightOf(mlir::Value value);

/// The large weights of contractions (matmul, einsum, convolution). Tensor
/// parallelism must divide these weights among ranks. A weight is large if it
/// has more than 1 % of the bytes of all contraction weights in one transformer
/// block. The number of blocks is estimated from the shapes of weights. For
/// example, if 24 weights have the shape [64, 256], and fewer weights have any
/// other shape, the estimate is 24 blocks.
///
/// Two ops must split a large weight. The first op is the `graph.get_parameter`
/// whose result is the weight. The second op is the contraction that has the
/// weight as an operand.
class ContractionWeights {
public:
  /// Finds the large contraction weights of `graph`, which may be destroyed
  /// before this object.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the bytes of the weight that vertex `index` of the graph reads or
  /// contracts with. Returns 0 if there is none or if it is too small to be
  /// divided.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether vertex `index` of the graph must split its large weight
  /// over `axis`. A sub-axis, such as `axis`, is a mesh axis or a part of a
  /// mesh axis. `op` is the vertex with the sub-axes that split its dims so
  /// far.
  ///
  /// Returns true if a dim of the weight has enough elements for the split. For
  /// example, a dim of 6 elements that is split into 2 parts can be split again
  /// by a sub-axis of size 3, but not by a sub-axis of size 4. Returns false if
  /// the vertex has no large weight.
  ///
  /// If another sub-axis of the same mesh axis already splits dims of `op`, the
  /// function tests only these dims of the weight. For example, the mesh axis
  /// tp of size 4 consists of two sub-axes of size 2, and the first sub-axis
  /// already splits a dim of 2 heads. The function returns false for the second
  /// sub-axis, because the dim of heads is too small.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Returns whether `candidate`, a way of splitting vertex `index` of the
  /// graph, splits the weight of that vertex over the sub-axis `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  /// The weight of one vertex of the graph. The vertex is a contraction that
  /// has the weight as an operand, or the `graph.get_parameter` whose result is
  /// the weight.
  struct Weight {
    /// Bytes of the whole weight; 0 if it is too small to be divided.
    double bytes = 0;
    /// Index of the operand that is the weight, if the vertex is a contraction.
    /// std::nullopt if the vertex is a `graph.get_parameter`. The result of a
    /// `graph.get_parameter` is the weight.
    std::optional<unsigned> operand;

    /// Returns, for each dim of the weight, its factors (parts of the dim) in
    /// `rule`, the sharding rule of the op.
    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  /// Maps a vertex of the graph to its weight. The keys are the contractions
  /// that have a weight as an operand, and the `graph.get_parameter` ops that
  /// return these weights. Other vertices are not in the map.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
