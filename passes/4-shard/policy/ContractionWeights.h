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

/// Returns the op that reads a weight if `value` is that weight, or was made
/// from it by layout ops and casts alone. Otherwise returns null.
graph::GetParameterOp weightOf(mlir::Value value);

/// The weights that tensor parallelism must divide: the large weights of
/// contractions (matmul, einsum, convolution). A weight is large if it has more
/// than 1 % of the contraction weights of one transformer block, in bytes. A
/// block's bytes are estimated as those of the whole model, divided by n: the
/// most frequent shape occurs n times among the weights.
///
/// Both the contraction and the op that reads the weight must split it.
/// Therefore the weight is stored as the contraction uses it, even if another
/// user, such as an embedding lookup, would prefer it whole.
class ContractionWeights {
public:
  /// Finds the large contraction weights of `graph`, which may be destroyed
  /// before this object.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the bytes of the weight that vertex `index` (an op of the graph)
  /// reads or contracts with. Returns 0 if there is none or if it is too small
  /// to be divided.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether the weight of vertex `index` of the graph must be split
  /// over the sub-axis `axis`. `op` is the vertex as it is split so far. The
  /// weight must be split if one of its factors (dims, or parts of dims) has
  /// enough elements for one more split.
  ///
  /// If an earlier sub-axis of the same mesh axis splits the vertex, only the
  /// factors that it splits count. For example, if the first part of `tp`
  /// splits heads, the next part must split heads, too.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Returns whether `candidate`, a way of splitting vertex `index` of the
  /// graph, splits the weight of that vertex over the sub-axis `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  /// The weight of one vertex (op of the graph).
  struct Weight {
    /// Bytes of the whole weight; 0 if it is too small to be divided.
    double bytes = 0;
    /// Index of the operand that is the weight. std::nullopt if the vertex is
    /// the op that reads the weight, so that the weight is its result.
    std::optional<unsigned> operand;

    /// Returns, for each dim of the weight, its factors (parts of the dim) in
    /// `rule`, the sharding rule of the op.
    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  /// By vertex (op of the graph) that reads a weight or contracts with a
  /// weight: this weight.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
