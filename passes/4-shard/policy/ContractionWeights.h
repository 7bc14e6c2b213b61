//===- ContractionWeights.h - weights that tensor parallelism must divide -===//

#ifndef PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Returns whether `op` sums products: a matmul, an einsum or a convolution.
/// `op` may be null.
bool isContraction(mlir::Operation *op);

/// Returns whether `op` gives its operand another layout or element type: a
/// transpose, reshape, slice, cast or broadcast. `op` may be null.
bool isLayoutOrCast(mlir::Operation *op);

/// Returns the weight that `value` is, possibly behind layout ops and casts;
/// null if it is none.
graph::GetParameterOp weightOf(mlir::Value value);

/// The contraction weights of a graph that count, that is, that tensor
/// parallelism must divide. A weight counts if it has more than 1 % of the
/// bytes of all contraction weights of one transformer block. The number of
/// blocks is estimated as the number of contraction weights of the most
/// frequent shape.
///
/// The requirement holds for the ops that contract with the weight and for the
/// op that reads it. So the weight is stored as the contractions use it, even
/// if another user, such as an embedding lookup, would prefer it whole.
class ContractionWeights {
public:
  /// Finds the weights of `graph`, which need not outlive this.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the bytes of the weight that vertex `index` reads or contracts
  /// with; 0 if there is none that counts.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether `axis`, one more part of a mesh axis, must split the
  /// weight of `op`, the present state of vertex `index`. This holds if some
  /// factor of the weight still has enough elements. A mesh axis that splits
  /// some factor already, such as heads, continues on that factor only.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Returns whether `candidate`, a state of vertex `index`, splits the weight
  /// of that vertex by `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  /// The weight of one vertex.
  struct Weight {
    /// Bytes of the whole weight; 0 if it does not count.
    double bytes = 0;
    /// The operand that is the weight; none if the vertex reads the weight.
    std::optional<unsigned> operand;

    /// Returns the factors of the weight in `rule`, the rule of the vertex.
    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  /// Per vertex that reads or contracts with a weight: that weight.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
