//===- MegatronLayout.h - Megatron-LM layout: columns, then rows ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// Requirements that split a model over `tp` as in Megatron-LM (Shoeybi et al.
/// 2019, arXiv 1909.08053; sequence parallelism: Korthikanti et al. 2022, arXiv
/// 2205.05198). They follow from the structure of the graph:
///
/// - The weight of a contraction is split by *columns*, the dims that the
///   result has, so that the result is split, too.
/// - If the other operand of the contraction comes from such a result, the
///   weight is split by *rows* instead, the dims that are summed.
/// - A table from which rows are looked up is split by rows.
/// - The result of a split by rows is on the *stream*: every rank has all of it
///   or, with the preset `sequence`, a part of the sequence.
///
///   stream -> norm -> [qkv: columns] -> attention -> [out: rows] -> + stream
///
/// The preset `megatron` makes the requirements for weights, the preset
/// `sequence` those for the stream. Without these presets there are no
/// requirements.
class MegatronLayout {
public:
  /// Finds what the presets require of each vertex (op of the graph). `weights`
  /// must outlive this object.
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Returns whether `op`, a way of splitting vertex `index` of the graph,
  /// breaks the requirement of the presets for that vertex. A requirement is a
  /// list of factors (dims, or parts of dims), one of which must be split over
  /// `part`, a sub-axis of `tp`. Returns false if nothing is required.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// State of a value: which contraction it comes from. If the operands of an
  /// op have different states, its result has the last of them in this list.
  enum class ValueState : uint8_t {
    /// The value depends on no contraction and on no lookup, as a mask or a
    /// table of token positions does.
    Table,
    /// The value comes from a contraction whose weight is split by rows, or
    /// from a lookup.
    Stream,
    /// The value comes from a contraction whose weight is split by columns, and
    /// has not passed a contraction whose weight is split by rows.
    Open,
  };
  /// Indices of the factors (dims, or parts of dims) of an op of which one must
  /// be split over `tp`. Empty if nothing is required.
  using Factors = llvm::SmallVector<int, 4>;

  /// Returns the state of the results of vertex `index` (an op of the graph):
  /// the kind of contraction from which they come. `before` holds the states of
  /// the operands.
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
  /// By vertex of the graph: the factors (dims, or parts of dims) of which one
  /// must be split over `tp`. Empty if nothing is required.
  llvm::SmallVector<Factors, 0> required;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
