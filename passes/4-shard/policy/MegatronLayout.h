//===- MegatronLayout.h - Megatron-LM layout: columns, then rows ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// The layout of Megatron-LM (Shoeybi et al. 2019, arXiv 1909.08053; sequence
/// parallelism: Korthikanti et al. 2022, arXiv 2205.05198). For each op, this
/// class lists dims, and `tp` must split one of them:
///
///   stream -> norm -> [qkv: columns] -> attention -> [out: rows] -> + stream
///
/// - The preset `megatron` first splits a weight by columns, the dims that the
///   result has, too. It splits the next weight by rows, the summed dims. It
///   splits a lookup table by rows.
/// - The preset `sequence` splits the sequence of the stream, the results of
///   splits by rows. Without it, every rank has the whole stream.
class MegatronLayout {
public:
  /// Finds what the presets require of each vertex of the graph. `weights` must
  /// outlive this object.
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Returns whether `op`, a way of splitting vertex `index` of the graph,
  /// breaks the requirement of the presets. A requirement is a list of factors
  /// (dims, or parts of dims); `part`, a sub-axis of `tp`, must split one of
  /// them.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// State of a value: the kind of contraction or lookup from which it comes.
  /// Any other op passes the state of its operands on to its result. If they
  /// differ, the state that is last in this list counts.
  enum class ValueState : uint8_t {
    /// The value depends on no contraction and on no lookup: a mask or a table
    /// of token positions, for example.
    Table,
    /// The value comes from a contraction whose weight is split by rows, or
    /// from a lookup.
    Stream,
    /// The value comes from a contraction whose weight is split by columns. No
    /// later contraction on the way to the value splits its weight by rows.
    Open,
  };
  /// Indices of factors (dims, or parts of dims) of an op. `tp` must split one
  /// of them. Empty if nothing is required.
  using Factors = llvm::SmallVector<int, 4>;

  /// Returns the state of the results of vertex `index` of the graph, the kind
  /// of contraction from which they come. `before` holds the states of the
  /// operands.
  ValueState stateOf(const ShardedGraph &graph, unsigned index,
                     llvm::ArrayRef<ValueState> before) const;
  /// Requires that vertex `index` of the graph splits its weight: by rows if
  /// `isRows`, otherwise by columns.
  void requireWeightSplit(const ShardedGraph &graph, unsigned index,
                          bool isRows);
  /// Requires that vertex `index` of the graph splits the sequence, if it has
  /// one.
  void requireSequenceSplit(const ShardedGraph &graph, unsigned index);

  const ContractionWeights &weights;
  /// Whether weights must be split (preset `megatron`), and whether the
  /// sequence must be split (preset `sequence`).
  bool splitsWeights, splitsSequence;
  /// For each vertex of the graph: a list of factors (dims, or parts of dims).
  /// `tp` must split one of them, unless the list is empty.
  llvm::SmallVector<Factors, 0> required;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
