//===- MegatronLayout.h - Megatron-LM layout: columns, then rows ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// The layout of a model on `tp` as in Megatron-LM (Shoeybi et al. 2019, arXiv
/// 1909.08053; sequence parallelism: Korthikanti et al. 2022, arXiv
/// 2205.05198). The layout is found by structure:
///
/// - a contraction weight is split by *columns*, the dims that the result has,
///   so that the product is split, too;
/// - a contraction whose other operand comes from such a product is split by
///   *rows*, the dims that are summed;
/// - a table that is looked up is split by rows;
/// - behind rows the value is on the *stream*: every rank holds all of it or,
///   with preset `sequence`, a part of the sequence.
///
///   stream -> norm -> [qkv: columns] -> attention -> [out: rows] -> + stream
///
/// The rules apply with the presets `megatron` (weights) and `sequence`
/// (stream). Without them no op has a requirement.
class MegatronLayout {
public:
  /// Finds what the presets of the graph's function require of each vertex.
  /// `weights` must outlive this.
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Returns whether `op`, a state of vertex `index`, breaks a requirement:
  /// `part`, a part of `tp`, splits none of the factors of which it should
  /// split one.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// The position of a value relative to split contractions. Where operands
  /// differ, the last of these wins.
  enum class ValueState : uint8_t {
    /// The value depends on no contraction or lookup: a mask or positions.
    Table,
    /// The value comes from a contraction by rows, or from a lookup.
    Stream,
    /// The value comes from a contraction by columns and has not reached a
    /// contraction by rows.
    Open,
  };
  /// Factors of which one must be split; empty if nothing is required.
  using Factors = llvm::SmallVector<int, 4>;

  /// Returns the state of the results of vertex `index`, whose operands have
  /// the states `before`.
  ValueState stateOf(const ShardedGraph &graph, unsigned index,
                     llvm::ArrayRef<ValueState> before) const;
  /// Requires that the weight of vertex `index` be split by rows or by columns.
  void requireWeightSplit(const ShardedGraph &graph, unsigned index,
                          bool isRows);
  /// Requires that vertex `index` split the sequence.
  void requireSequenceSplit(const ShardedGraph &graph, unsigned index);

  const ContractionWeights &weights;
  /// Whether the preset `megatron`, and the preset `sequence`, was given.
  bool splitsWeights, splitsSequence;
  /// Per vertex: the requirement.
  llvm::SmallVector<Factors, 0> required;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
