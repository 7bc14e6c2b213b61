//===- MegatronLayout.h - Megatron-LM layout: columns, then rows ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// The layout of Megatron-LM (Shoeybi et al. 2019, arXiv 1909.08053; sequence
/// parallelism: Korthikanti et al. 2022, arXiv 2205.05198). With `--preset
/// megatron`, `tp` splits the weight of one matmul by columns, and the weight
/// of the next matmul by rows. With `--preset sequence`, `tp` splits the
/// sequence dim of the ops after a matmul whose weight is split by rows and
/// before the next matmul whose weight is split by columns.
class MegatronLayout {
public:
  /// Collects, for each op of `graph`, a list of loop dims. The mesh axis `tp`
  /// must split at least one loop dim of the list. `weights` contains the large
  /// weights of `graph`, and must outlive this object.
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Returns whether `op` violates `--preset megatron` or `--preset sequence`.
  /// `op` is node number `index` of the graph. For some ops, a preset has a
  /// list of loop dims. One of these ops violates the preset if `part` splits
  /// none of the loop dims. `part` is the mesh axis `tp`, or a factor of this
  /// axis.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// State of a value: whether the last contraction or embedding lookup before
  /// the value splits its large weight by rows or by columns. A result of any
  /// other op has the largest state of the op's operands, where Table < Stream
  /// < Open.
  enum class ValueState : uint8_t {
    /// The value depends on no contraction and on no lookup: a mask or a table
    /// of token positions, for example.
    Table,
    /// The value comes from an embedding lookup, or from a contraction that
    /// splits its large weight by rows.
    Stream,
    /// The value comes from a contraction that splits its large weight by
    /// columns. With `--preset megatron`, the next contraction with a large
    /// weight must split it by rows.
    Open,
  };
  /// A list of loop dims of one op, given by their indices. The mesh axis `tp`
  /// (tensor parallelism) must split one loop dim of the list. An empty list
  /// requires nothing.
  using Factors = llvm::SmallVector<int, 4>;

  /// Returns the state of the results of node `index` of the graph. `before`
  /// contains the states of its operands.
  ValueState stateOf(const ShardedGraph &graph, unsigned index,
                     llvm::ArrayRef<ValueState> before) const;
  /// Requires that `tp` splits the weight of node `index`, a contraction or an
  /// embedding lookup: by rows if `isRows` is true, and by columns otherwise.
  /// In the matmul [m,k] x [k,n], the weight [k,n] has the rows k and the
  /// columns n.
  void requireWeightSplit(const ShardedGraph &graph, unsigned index,
                          bool isRows);
  /// Requires that node `index` of the graph splits the sequence, if it has
  /// one.
  void requireSequenceSplit(const ShardedGraph &graph, unsigned index);

  const ContractionWeights &weights;
  /// Whether weights must be split (preset `megatron`), and whether the
  /// sequence must be split (preset `sequence`).
  bool splitsWeights, splitsSequence;
  /// required[v] lists the loop dims of node v of which `tp` must split one.
  /// The list is empty if `--preset` requires nothing.
  llvm::SmallVector<Factors, 0> required;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
