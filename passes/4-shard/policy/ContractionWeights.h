//===- ContractionWeights.h - weights that tensor parallelism must divide -===//

#ifndef PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Whether `op`, which may be null, sums products.
bool isContraction(mlir::Operation *op);

/// Whether `op`, which may be null, gives its operand another layout or type.
bool isLayoutOrCast(mlir::Operation *op);

/// The weight that `value` is, possibly in another layout; null if it is none.
graph::GetParameterOp weightOf(mlir::Value value);

/// Which ops contract with a weight that counts, one of more than 1% of its
/// block's weights, and which ops read such a weight: it is stored as it is
/// used, also where a lookup would rather have all of it. The blocks of a model
/// are estimated by how often its most frequent weight shape occurs.
class ContractionWeights {
public:
  explicit ContractionWeights(const ShardedGraph &graph);

  /// Bytes of the weight that op `index` reads or contracts with; 0 if there
  /// is none that counts.
  double bytes(unsigned index) const { return weights.lookup(index).bytes; }

  /// Whether one more part of `axis` has to split the weight of `op`, which is
  /// op `index` so far: some factor of the weight has something left to give to
  /// it. An axis that has begun on a factor, heads for instance, does not go on
  /// to another one.
  bool mustSplit(const ShardedOp &op, unsigned index,
                 const dist::SubAxis &axis) const;

  /// Whether `candidate` splits the weight of op `index` by `axis`.
  bool splits(const ShardedOp &candidate, unsigned index,
              const dist::SubAxis &axis) const;

private:
  struct Weight {
    double bytes = 0;
    std::optional<unsigned> operand; ///< none: the op reads the weight

    const graph::ShardingRule::TensorFactors &
    dimsOf(const RefinedRule &rule) const {
      return operand ? rule.operands[*operand] : rule.results[0];
    }
  };
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_CONTRACTIONWEIGHTS_H
