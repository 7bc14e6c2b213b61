//===- ShardedOp.h - sharding rule of one op and the axes that split it ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// Kind of elements that a dim of an op counts, and the mesh axes that may
/// split this dim. An axis with any other name in `--mesh` may split every dim.
///
///   Batch      samples                                  dp, mb
///   Stripe     stripes: ranges of the token sequence    no axis
///   Sequence   tokens, or the tokens of one stripe      cp, tp
///   Head       heads, within attention                  cp, tp
///   Expert     experts (only with the option `--ep`)    tp, dp, cp
///   None       anything else, such as hidden features   tp
///
/// In ops that compute experts, or that prepare or combine values for them, dp
/// and cp may also split dims of other kinds (ExpertDims.h).
enum class FactorTag : uint8_t { None, Batch, Stripe, Sequence, Head, Expert };

/// A way in which an op can use one more sub-axis of the mesh.
struct Strategy {
  enum StrategyKind : uint8_t {
    /// Leaves a sub-axis of the mesh unused: all ranks along it compute the
    /// same values.
    Replicate,
    /// Splits a loop dim of the op (Shardy's factor) over a sub-axis of the
    /// mesh. `index` is the index of the loop dim.
    Split,
    /// Passes partial sums (one addend on each rank of a sub-axis) from an
    /// operand to the results. `index` is the index of the operand. It is -1 if
    /// several operands must be partial sums together, as in an addition.
    Through,
    /// Splits the queries and the keys of an attention over a sub-axis of the
    /// mesh, as ring attention (RingAttention.h). `index` is the index of the
    /// loop dim of the queries.
    Ring,
  };
  StrategyKind kind = Replicate;
  /// Split and Ring: index of a loop dim of the op. Through: index of an
  /// operand, or -1 for several operands. Replicate: -1.
  int index = -1;
};

/// A sharding rule whose loop dims (Shardy's factors) are cut to match adjacent
/// ops. Example: the dim of 192 elements of a fused QKV matmul becomes the loop
/// dims 3 (Q, K, V), 8 (heads) and 8 (head size).
struct RefinedRule : graph::ShardingRule {
  /// parts[f] lists the loop dims into which loop dim f of the original rule
  /// was cut, major first. The elements are indices into `factors`. The list is
  /// {f} if loop dim f has not been cut.
  llvm::SmallVector<DimFactors> parts;

  /// Creates a copy of `rule` in which no loop dim has been cut yet.
  explicit RefinedRule(graph::ShardingRule rule);

  /// Cuts loop dim `id` into loop dims of the given sizes, major first. The
  /// product of `sizes` must be the size of loop dim `id`. The first new loop
  /// dim keeps the index `id`.
  void refine(int id, llvm::ArrayRef<int64_t> sizes);
};

/// Returns the sharding rule of `op`. An op without ShardingRuleOpInterface,
/// such as `pipe.transfer`, gets the rule of an identity: it may split every
/// dim and pass on partial sums.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts loop dims of `tensor`, an operand or result in `rule`, to match
/// `sharding`. Example: a loop dim of 12 elements and the sharding [3|4] give
/// two loop dims of 3 and 4. Never cuts loop dims that each rank needs whole or
/// contiguous.
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// A node of ShardedGraph, and the sub-axes (mesh axes or parts of them) that
/// it uses so far. A sub-axis has one use: it splits a loop dim, it splits
/// queries and keys of ring attention, or it is in `through`.
struct ShardedOp {
  /// The IR op. Null for a function argument, a function result, and a node
  /// that only sets the sharding of an op's result, because the user asked for
  /// it.
  mlir::Operation *op = nullptr;
  /// The sharding rule of the op. All candidate shardings of one op share one
  /// rule. Never null.
  std::shared_ptr<const RefinedRule> rule;
  /// axes[f] lists the sub-axes of the mesh that split loop dim f of `rule`,
  /// major first.
  llvm::SmallVector<dist::SubAxes, 0> axes;
  /// Sub-axes along which operands are partial sums (values that ranks still
  /// have to add). Along these sub-axes, the results are partial sums as well.
  dist::SubAxes through;
  /// throughOperand[i] is the index of the operand that is a partial sum along
  /// through[i]. It is -1 if all operands in `rule->partialThrough` must be
  /// partial sums together, as in an addition.
  llvm::SmallVector<int, 2> throughOperand;

  /// Whether each rank receives only the operand elements that it needs, for
  /// every windowed read of the op, such as a slice. If false, uses() decides
  /// for each window.
  bool usesAllWindows = false;

  /// Creates a ShardedOp that no mesh axis splits yet. `op` may be null, for
  /// example for a function argument. `rule` must not be null.
  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// Returns a copy of this op that also uses the sub-axis `axis`, as
  /// `strategy` says. Strategy::Ring is not allowed. See candidatesOf for ring
  /// attention.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  /// Returns the sharding in which the op needs operand number `operand`,
  /// simplified by dist::canonical(). A dim with a windowed read, such as a
  /// slice or a convolution, gets a dist::View: the elements that each rank
  /// reads, with halo.
  dist::Sharding operandSharding(unsigned operand) const;
  /// Returns the sharding of result number `result`, simplified by
  /// dist::canonical(). The result is partial along axes that split a reduced
  /// dim, and along those in `through`. Exception: `graph.accumulate` adds the
  /// microbatches, so its result is not partial along `mb`.
  dist::Sharding resultSharding(unsigned result) const;

  /// Returns the value of the attribute `dist.split`: a sharding with one dim
  /// for each loop dim of the op, such as m, n and k of a matmul. Its partial
  /// axes are those in `through`.
  dist::Sharding split() const;

  /// Returns the sharding of a tensor from the member `axes`, without partial
  /// sums. `dims` lists the loop dims of each tensor dim. The sharding is not
  /// simplified by dist::canonical().
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Returns whether `axis`, or a sub-axis of it, splits some loop dim of the
  /// op.
  bool isSplitBy(const dist::Axis &axis) const;

  /// Returns the axes along which ranks exchange intermediate results while the
  /// op runs, in the order of `rule->factors`. Examples are an axis that splits
  /// the normalized dim of a softmax, and the axis of ring attention.
  dist::SubAxes innerAxes() const;

  /// Returns whether the op uses `window`, a range of an operand's dim that the
  /// op reads. With the window, a rank receives only the elements that it
  /// needs. Without the window, a rank may receive all elements of the dim.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// Returns the sharding of dim `window.dim` of operand `window.operand`. The
  /// sharding says which elements each rank needs. Example: 2 ranks compute the
  /// slice x[3:11]. Rank 0 needs elements 3 to 6 of x.
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

/// Returns all ways in which `op` can use one more sub-axis of the mesh. The
/// first element is always Replicate. No element is a Split of a loop dim of
/// kind Whole.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op);

/// Returns copies of `op` that use one more mesh axis, in all ways whose
/// Strategy (such as Split) `may` accepts. `parts` are the sub-axes of the mesh
/// axis, of prime sizes, major first. If a loop dim has too few elements for
/// all sub-axes, the remaining sub-axes may split another loop dim. If
/// `mixesDims` is false, the other loop dim must come directly after the first
/// one in a tensor dim. For example, 64 comes after 12 in a dim of
/// 768 = 12 · 64.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// Returns copies of `op`, whose result the user has sharded as in `seed`. In
/// each copy, the axes in `decided` split the first result as in `seed` (the
/// first operand, if the op has no result). `decided` contains the axes
/// assigned so far and the next axis. `parts` are the sub-axes of the next
/// axis. If `seed` does not use the next axis, also returns copies in which
/// `parts` split one more loop dim. `may` must accept this split, and `seed`
/// must leave the tensor dim of this loop dim open. For the axis `mb`, the
/// tensor dim need not be open.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
