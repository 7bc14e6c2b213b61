//===- MegatronLayout.h - columns, then rows ------------------------------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// How Megatron-LM lays a model out on `tp` (arXiv 1909.08053, and 2205.05198
/// for the sequence), found by structure: a contraction weight is split by
/// *columns*, the dims of its result, unless what it is multiplied with comes
/// from such a product already; then by *rows*, the dims that are summed. A
/// table that is looked up is split by its rows. Between rows and columns lies
/// the *stream*, of which every rank has all, or a part of the sequence.
///
///   stream -> norm -> [qkv: columns] -> attention -> [out: rows] -> + stream
///
/// For the presets megatron and sequence; without them nothing is required of an
/// op.
class MegatronLayout {
public:
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Whether `part` of tp leaves whole in `op`, which is op `index`, what it
  /// should split.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// What a value is between products.
  enum class ValueState : uint8_t {
    Table,  ///< no product or lookup is in it: masks, positions
    Stream, ///< behind rows, or behind a lookup
    Open,   ///< behind columns, in front of rows
  };
  /// The factors of which one has to be split; none: anything goes.
  using Factors = llvm::SmallVector<int, 4>;

  ValueState stateOf(const ShardedGraph &graph, unsigned index,
                     llvm::ArrayRef<ValueState> before) const;
  void requireWeightSplit(const ShardedGraph &graph, unsigned index,
                          bool isRows);
  void requireSequenceSplit(const ShardedGraph &graph, unsigned index);

  const ContractionWeights &weights;
  bool splitsWeights, splitsSequence;
  llvm::SmallVector<Factors, 0> required; ///< per op
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
