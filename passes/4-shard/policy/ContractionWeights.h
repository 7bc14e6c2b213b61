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

/// Returns the `graph.get_parameter` op that reads the weight `value`. `value`
/// is the result of this op, or is computed from the result by ops that only
/// change the layout or the element type. For example, `value` may be the
/// transpose of a weight. Returns null if `value` is no weight.
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
  /// Finds the large weights of contractions in `graph`. A contraction is an op
  /// that sums products, such as a matmul, an einsum or a convolution. A weight
  /// is large if it has more than 1 % of the bytes of all contraction weights
  /// in one transformer block. The object keeps no reference to `graph`, so the
  /// caller may destroy `graph` before the object.
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Returns the size in bytes of the large weight of vertex `index` of the
  /// graph. The vertex is a contraction, such as a matmul, that has the weight
  /// as an operand, or the `graph.get_parameter` whose result is the weight.
  /// Returns 0 for any other vertex, and for a weight that is not large.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Returns whether vertex `index` must split its weight over `axis` (mesh
  /// axis or part of one). `op` is the vertex with the axes that split it so
  /// far. The weight must be large (see ContractionWeights), and `axis` must be
  /// able to split a factor (dim or part of a dim) of the weight:
  ///
  /// - The factor does not have the kind Whole.
  /// - With `axis`, the factor has at least as many elements as parts.
  /// - The mesh axis of `axis` splits this factor already, or no factor of
  ///   `op`.
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
    /// Bytes of the whole weight. It is 0 if the weight is not large. A weight
    /// is large if it has more than 1 % of the bytes of all contraction weights
    /// in one transformer block.
    double bytes = 0;
    /// Index of the operand that is the weight, if the vertex is a contraction.
    /// std::nullopt if the vertex is a `graph.get_parameter`. The result of a
    /// `graph.get_parameter` is the weight.
    std::optional<unsigned> operand;

    /// Returns one list of factors for each dim of the weight. The weight is an
    /// operand or the result of an op, and `rule` is the sharding rule of this
    /// op. The rule cuts a dim into one or more factors. For example, the
    /// second dim of a weight of shape [64, 24] may have factors of 8 and of 3
    /// elements. Each list contains indices into `rule.factors`.
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
