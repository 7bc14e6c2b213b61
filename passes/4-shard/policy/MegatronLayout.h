//===- MegatronLayout.h - Megatron-LM layout: columns, then rows ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
#define PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H

#include "passes/4-shard/policy/ContractionWeights.h"

namespace pcc::shard {

/// The layout of Megatron-LM (Shoeybi et al. 2019, arXiv 1909.08053; sequence
/// parallelism: Korthikanti et al. 2022, arXiv 2205.05198). With `--preset
/// megatron`, the mesh axis `tp` splits the weight of one matmul by columns,
/// and the weight of the next matmul by rows (the dim over which it sums). With
/// `--preset sequence`, `tp` splits the sequence of the ops that follow a split
/// by rows and precede a split by columns. Example with both presets:
///
///   op                 dim that `tp` must split
///   x1 = norm(x)       the sequence
///   q  = qkv(x1)       the columns of the weight
///   y  = attention(q)  no dim
///   y1 = out(y)        the rows of the weight
///   x2 = x + y1        the sequence
class MegatronLayout {
public:
  /// Computes, for each op of `graph`, the list of dims of which the mesh axis
  /// `tp` (tensor parallelism) must split one. All lists are empty unless the
  /// user gave `--preset megatron` or `--preset sequence`. `weights` contains
  /// the large weights of `graph`. It must outlive this object.
  MegatronLayout(const ShardedGraph &graph, const ContractionWeights &weights);

  /// Returns whether `op` breaks a rule of `--preset megatron` or of `--preset
  /// sequence`. `op` is vertex `index` of the graph, with the mesh axes that
  /// split its dims. `part` is the mesh axis `tp` (tensor parallelism) or a
  /// part of this axis. A rule lists some dims of the vertex. `op` breaks the
  /// rule if `part` splits none of these dims. Returns false if there is no
  /// rule for the vertex.
  bool isBroken(unsigned index, const ShardedOp &op,
                const dist::SubAxis &part) const;

private:
  /// State of a value. Table is the smallest state, and Open is the largest.
  /// ContractionWeights says which weights are large.
  ///
  ///   op that computes the value                     state of the value
  ///   contraction, large weight split by columns     Open
  ///   contraction, large weight split by rows        Stream
  ///   embedding lookup                               Stream
  ///   op without operands, function argument         Table
  ///   any other op                                   largest state of an operand
  enum class ValueState : uint8_t {
    /// The value depends on no contraction and on no lookup: a mask or a table
    /// of token positions, for example.
    Table,
    /// The value is the result of an embedding lookup, or of a contraction
    /// (such as a matmul) whose large weight is split by rows. An op without a
    /// large weight passes this state on from an operand to its result. For
    /// example, the norm of a value in this state is also in this state. There
    /// is one exception: if another operand of the op is in the state Open, the
    /// result is in the state Open.
    Stream,
    /// The value is the result of a contraction (such as a matmul) whose large
    /// weight is split by columns. Ops without a large weight pass this state
    /// on to their results. For example, the GELU of such a value is also in
    /// this state. With `--preset megatron`, a contraction that reads a value
    /// in this state must split its large weight by rows.
    Open,
  };
  /// A list of factors (dims, or parts of dims) of one op, given by their
  /// indices. The mesh axis `tp` (tensor parallelism) must split one factor of
  /// the list. An empty list requires nothing.
  using Factors = llvm::SmallVector<int, 4>;

  /// Returns the state of the results of vertex `index` of the graph. The state
  /// of a value says how an earlier matmul splits its weight: by columns (Open)
  /// or by rows (Stream). A value that comes from a lookup is in the state
  /// Stream, too. The state Table means that there is no earlier matmul and no
  /// lookup. `before` contains the states of the operands of the vertex.
  ValueState stateOf(const ShardedGraph &graph, unsigned index,
                     llvm::ArrayRef<ValueState> before) const;
  /// Requires that the mesh axis `tp` splits the weight of vertex `index` of
  /// the graph. The vertex is a contraction, such as a matmul, or an embedding
  /// lookup, whose weight is the table. `tp` must split the weight by rows if
  /// `isRows` is true, and by columns if it is false. In the matmul [m,k] x
  /// [k,n], the weight is [k,n]. Its rows are k, and its columns are n. The
  /// requirement is stored in `required[index]`.
  void requireWeightSplit(const ShardedGraph &graph, unsigned index,
                          bool isRows);
  /// Requires that vertex `index` of the graph splits the sequence, if it has
  /// one.
  void requireSequenceSplit(const ShardedGraph &graph, unsigned index);

  const ContractionWeights &weights;
  /// Whether weights must be split (preset `megatron`), and whether the
  /// sequence must be split (preset `sequence`).
  bool splitsWeights, splitsSequence;
  /// required[v] lists factors (dims, or parts of dims) of vertex v of the
  /// graph. To follow the option `--preset`, the mesh axis `tp` (tensor
  /// parallelism) must split one factor of the list. If the list is empty, the
  /// option requires nothing of the vertex.
  llvm::SmallVector<Factors, 0> required;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_MEGATRONLAYOUT_H
