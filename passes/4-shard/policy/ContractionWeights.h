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

/// The weights that tensor parallelism must divide: the large weights of
/// contractions (matmul, einsum, convolution). A weight is large if it has more
/// than 1 % of the bytes of all contraction weights in one transformer block.
/// The number of blocks is estimated as the largest number of weights with one
/// shape.
///
/// Both the contraction and the op that reads the weight must split the weight.
class ContractionWeights {
public:
  /// Finds the large contraction weights of `graph`, which may be destroyed
  /// before this object.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the bytes of the weight that vertex `index` of the graph reads or
  /// contracts with. Returns 0 if there is none or if it is too small to be
  /// divided.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether vertex `index` of the graph must also split its large
  /// weight over the sub-axis `axis`. `op` is the vertex with its splits so
  /// far. True if a dim of the weight has enough elements for this split.
  ///
  /// If another sub-axis of the same mesh axis already splits dims of the
  /// vertex, such as the heads, only these dims count.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Returns whether `candidate`, a way of splitting vertex `index` of the
  /// graph, splits the weight of that vertex over the sub-axis `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  /// The weight tensor that one vertex (op of the graph) contracts with or
  /// reads.
  struct Weight {
    /// Bytes of the whole weight; 0 if it is too small to be divided.
    double bytes = 0;
    /// Index of the operand that is the weight. std::nullopt if the vertex is
    /// the op that reads the weight.
    std::optional<unsigned> operand;

    /// Returns, for each dim of the weight, its factors (parts of the dim) in
    /// `rule`, the sharding rule of the op.
    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  /// Maps each vertex (op of the graph) that contracts with a weight, or that
  /// reads one, to this weight.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
