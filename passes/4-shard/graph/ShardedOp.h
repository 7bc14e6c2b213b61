//===- ShardedOp.h - sharding rule of one op and the axes that split it ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// Tag of a factor (dim of an op, or part of a dim). The tag says what the
/// factor counts. The table shows the mesh axes that may split the factor. An
/// axis with any other name in `--mesh` may split every factor.
///
///   tag        the factor counts                        axes
///   Batch      samples                                  dp, mb
///   Stripe     stripes, pieces of the token sequence    no axis
///   Sequence   tokens, or the tokens of one stripe      cp, tp
///   Head       heads, within attention                  cp, tp
///   Expert     experts (only with the option `--ep`)    tp, dp, cp
///   None       anything else, such as hidden features   tp
///
/// In ops next to experts, dp and cp may split other factors, too
/// (ExpertDims.h).
enum class FactorTag : uint8_t { None, Batch, Stripe, Sequence, Head, Expert };

/// A way in which an op can use one more sub-axis of the mesh.
struct Strategy {
  enum StrategyKind : uint8_t {
    /// Leaves a sub-axis of the mesh unused: all ranks along it compute the
    /// same.
    Replicate,
    /// Splits a factor (dim of the op, or part of one) over a sub-axis of the
    /// mesh. `index` is the index of the factor.
    Split,
    /// Passes partial sums (one addend on each rank of a sub-axis) from an
    /// operand to the results. `index` is the index of the operand. It is -1 if
    /// several operands must be partial sums together, as in an addition.
    Through,
    /// Splits the queries and the keys of an attention over a sub-axis of the
    /// mesh, as ring attention (RingAttention.h). `index` is the index of the
    /// factor (dim, or part of a dim) of the queries.
    Ring,
  };
  StrategyKind kind = Replicate;
  /// Index of a factor (dim, or part of a dim) or of an operand, by `kind`:
  ///
  ///   Split       the factor that is split
  ///   Ring        the factor of the queries in ring attention
  ///   Through     the operand that is a partial sum; -1 for several operands
  ///   Replicate   -1 (unused)
  int index = -1;
};

/// A sharding rule whose factors (dims, or parts of dims) have been cut to
/// match the factors of adjacent ops. Example: one matmul computes Q, K and V
/// of an attention with 8 heads of size 8. Its result has a dim of 3 · 8 · 8 =
/// 192 elements. In the rule of the matmul alone, this dim is one factor. The
/// ops that read the result separate Q, K and V, and then the heads. Therefore
/// the factor is cut into three:
///
///   dim of 192   ->   factors 3 (Q, K, V), 8 (heads) and 8 (size of a head)
struct RefinedRule : graph::ShardingRule {
  /// parts[f] lists the factors into which factor f of the original rule has
  /// been cut, major first. A factor is a dim, or part of a dim. Each number in
  /// the list is an index into `factors`. If factor f has not been cut, the
  /// list is {f}.
  ///
  /// Example: the rule has only factor 0, of 12 elements. The factor is cut
  /// into 3 and 4. The part 3 is the new factor 0, and the part 4 is the new
  /// factor 1. Then parts[0] is {0, 1}.
  llvm::SmallVector<DimFactors> parts;

  /// Creates a copy of `rule` in which no factor (dim, or part of a dim) has
  /// been cut yet.
  explicit RefinedRule(graph::ShardingRule rule);

  /// Cuts factor `id` (a dim, or part of a dim) into factors of the given
  /// sizes, major to minor, in all tensors of the rule. The product of `sizes`
  /// must be the size of factor `id`. The first new factor keeps the index
  /// `id`. The others get new indices.
  void refine(int id, llvm::ArrayRef<int64_t> sizes);
};

/// Returns the sharding rule of `op`. If `op` has the interface
/// ShardingRuleOpInterface, the rule comes from this interface. Ops without the
/// interface return their operand unchanged. Examples are `pipe.transfer` and
/// `dist.pin`. Their rule says:
///
/// - Ranks can split every dim without communication.
/// - The operand may be a partial sum, that is, a value of which each rank has
///   one addend. In this case, the result is a partial sum, too.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts factors of one tensor into smaller factors, to match the factors in
/// `sharding`. A factor is a dim, or part of a dim. `tensor` is the entry of
/// `rule` for this tensor, an operand or a result. It lists the factors of each
/// dim. `sharding` is a sharding of the same tensor, and also lists factors of
/// each dim. Example: a dim has 12 elements. In `rule`, the dim has one factor
/// of 12 elements. In `sharding`, it has two factors, of 3 and of 4 elements.
/// The factor of 12 elements is then cut into factors of 3 and of 4 elements.
///
/// Some factors are never cut: those that ranks must not split (kind Whole),
/// and those of which each rank must have a contiguous range
/// (`mustBeContiguous`).
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// A vertex of ShardedGraph, and the sub-axes (mesh axes or parts of them) that
/// the vertex uses so far. A vertex uses a sub-axis in at most one way. The
/// sub-axis splits one factor (dim or part of a dim), or it splits the queries
/// and the keys of ring attention (RingAttention.h), or it is in `through`.
/// Along sub-axes in `through`, operands and results are partial sums: each
/// rank has one addend.
///
/// Example: tp splits k in the matmul [m,k] x [k,n]. Operand 0 is then [-,
/// k@tp], operand 1 is [k@tp, -], and the result is a partial sum along tp.
struct ShardedOp {
  /// The IR op. Null for a function argument, a function result, and a pin
  /// (requested sharding) that comes after an op.
  mlir::Operation *op = nullptr;
  /// The sharding rule of the op. It lists the factors of each dim of each
  /// operand and result. A factor is a dim, or part of a dim. The search makes
  /// a copy of this ShardedOp for each way of splitting the op. All these
  /// copies share one rule. Never null.
  std::shared_ptr<const RefinedRule> rule;
  /// axes[f] lists the sub-axes that split factor f (a dim, or part of a dim)
  /// of `rule`, major first.
  llvm::SmallVector<dist::SubAxes, 0> axes;
  /// Sub-axes along which operands are partial sums (values that ranks still
  /// have to add). Along these sub-axes, the results are partial sums as well.
  dist::SubAxes through;
  /// Contains one number for each sub-axis in `through`. throughOperand[i] is
  /// the number for the sub-axis through[i]:
  ///
  /// - If only one operand is a partial sum along the sub-axis, as for a
  ///   product, the number is the index of this operand.
  /// - If several operands must be partial sums together, as for an addition,
  ///   the number is -1. `rule->partialThrough` lists these operands.
  ///
  /// A partial sum is a value of which each rank has one addend.
  llvm::SmallVector<int, 2> throughOperand;

  /// Whether the op uses all windows of its rule. A window is the range of an
  /// operand's dim that the op reads. For example, the slice x[3:11] reads
  /// elements 3 to 10 of x. If the op uses the window, each rank receives only
  /// the elements of x that it needs for its part of the result. If the op does
  /// not use the window, a rank may receive all elements of x.
  ///
  /// If `usesAllWindows` is false, the member function `uses` decides for each
  /// window whether the op uses it.
  bool usesAllWindows = false;

  /// Creates a ShardedOp in which no mesh axis splits any factor yet. A factor
  /// is a dim of an op, or part of a dim. `op` is the IR op. It is null for a
  /// function argument or a function result, for example. `rule` lists the
  /// factors of each operand and result. It must not be null.
  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// Returns a copy of this op that uses one more sub-axis of the mesh. `axis`
  /// is the sub-axis. `strategy` says how the copy uses the sub-axis, for
  /// example to split one dim. `strategy` must not have the kind Strategy::Ring
  /// (ring attention). In ring attention, a sub-axis splits two dims: the
  /// queries and the keys. This function can split only one dim over `axis`.
  /// The function candidatesOf can create copies of an op with ring attention.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  /// Returns the sharding in which the op needs operand number `operand`. The
  /// sharding is simplified by dist::canonical(), which changes only the
  /// notation. For example, [4@tp|3] is a dim of 4 · 3 elements of which tp
  /// splits the factor 4. If tp has 2 ranks, dist::canonical() turns [4@tp|3]
  /// into [12@tp], because each rank has the same 6 elements in both notations.
  ///
  /// If the op uses a window of a dim, the sharding of the dim has a view. A
  /// window is the range of an operand's dim that the op reads. The view says
  /// which elements of the dim each rank reads. Some of them may belong to
  /// other ranks (halo). Example: a convolution with 3 filter rows and a pad of
  /// 1 row reads 8 rows that 2 ranks split. Rank 1 computes result rows 4 to 7,
  /// and reads rows 3 to 8, where row 3 belongs to rank 0 and row 8 is padding.
  dist::Sharding operandSharding(unsigned operand) const;
  /// Returns the sharding of result number `result`, simplified by
  /// dist::canonical(). The result is partial along a sub-axis if ranks still
  /// have to combine their values, for example by a sum. The partial sub-axes
  /// are those in `through`, and those that split a loop over which the op
  /// reduces, such as k in the matmul [m,k] x [k,n]. Exception: the result of a
  /// `graph.accumulate` is not partial along `mb`, because this op adds the
  /// microbatches.
  dist::Sharding resultSharding(unsigned result) const;

  /// Returns how mesh axes split the loops of the op. The attribute
  /// `dist.split` of the op stores the result. The result has the form of a
  /// sharding, but does not describe a tensor: it has one dim for each loop
  /// index of the op. Example: the matmul [m,k] x [k,n] has the loop indices m,
  /// n and k. If dp splits m and tp splits k, the result is [m@dp, -, k@tp].
  ///
  /// The result also lists the axes along which operands are partial sums. A
  /// partial sum is a value of which each rank has one addend.
  dist::Sharding split() const;

  /// Returns the sharding of a tensor. `dims` lists the factors of each dim of
  /// the tensor. The product of the factors is the size of the dim. For
  /// example, a dim of 12 elements has the single factor 12, or the factors 4
  /// and 3. In the returned sharding, each factor is split over its axes in the
  /// member `axes`. For example, if tp splits the factor 4, the sharding of the
  /// dim is [4@tp|3].
  ///
  /// The returned sharding has no partial sums (values that ranks still have to
  /// add). It is not simplified by dist::canonical(). The function
  /// dist::canonical() would turn [4@tp|3] into [12@tp] if tp has 2 ranks,
  /// because each rank has the same 6 elements in both notations.
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Returns whether `axis`, or a part of it, splits some factor (dim of the
  /// op, or part of one).
  bool isSplitBy(const dist::Axis &axis) const;

  /// Returns the axes along which ranks exchange intermediate results while the
  /// op runs. The axes are in the order of the factors in `rule`. A factor is a
  /// dim, or part of a dim. The function returns an axis in two cases:
  ///
  /// - The axis splits a factor of kind Inner. For example, a softmax has rows
  ///   of v elements, and the factor v has the kind Inner. If an axis splits v,
  ///   each rank has a part of each row. The ranks exchange the maximum and the
  ///   sum of each row.
  /// - The axis splits a factor of kind Whole. Only ring attention splits a
  ///   factor of this kind: the keys of the attention. Ring attention splits
  ///   the queries and the keys over the same axis. The ranks exchange keys and
  ///   values.
  dist::SubAxes innerAxes() const;

  /// Returns whether the op uses `window`. A window is the range of an
  /// operand's dim that the op reads. With the window, a rank receives only the
  /// elements that it needs for its part of the result. Without it, a rank may
  /// receive all elements. The op uses the window if `usesAllWindows` is true,
  /// or if ranks split dim `window.dim` of the result and `window.optional` is
  /// false. `window.optional` is true if ranks can split the dim so that each
  /// rank already has all elements that it needs.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// Returns the sharding of one dim of an operand: dim number `window.dim` of
  /// operand number `window.operand`. The sharding contains a view. The view
  /// says which elements of this dim each rank needs to compute its part of the
  /// result. Example: `window` belongs to the slice x[3:11], and 2 ranks split
  /// the 8 elements of the result. Rank 0 computes the first 4 elements, and
  /// needs elements 3 to 6 of x. Rank 1 computes the last 4 elements, and needs
  /// elements 7 to 10 of x.
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

/// Returns all ways in which `op` can use one more sub-axis of the mesh. Each
/// way is a Strategy, such as a split of one factor. A factor is a dim, or part
/// of a dim. The first entry is always Replicate: the op does not use the
/// sub-axis. If the sharding rule gives a factor the kind Whole, there is no
/// Strategy::Split for this factor. The function does not read `axis`, so the
/// list is equal for every `axis`.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op,
                                         const dist::SubAxis &axis);

/// Returns copies of `op`. Each copy uses one more mesh axis in another way
/// (Strategy) or not at all. `parts` are the sub-axes of this axis, of prime
/// sizes, major first. `may` returns whether a strategy is allowed. If a factor
/// (dim or part of a dim) has too few elements for all of `parts`, only the
/// first sub-axes split it. In further copies, the others split another factor:
/// any factor if `mixesDims` is true, else the next factor of the same dim.
/// Requested shardings in `seeds` add copies, for example with another order of
/// axes. If the op reads only part of a dim, copies with `usesAllWindows` =
/// true are added.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// Returns copies of `op` that respect `seed`, the requested sharding of its
/// first result, or of its first operand if it has no result. `parts` are the
/// sub-axes of the next mesh axis. `decided` has the axes assigned so far and
/// the next axis. In the first copy, axes of `seed` in `decided` split the
/// tensor as requested. Other axes keep their splits. If `seed` does not name
/// the next axis, each further copy also splits one factor (dim or part of a
/// dim) over `parts`. `may` must allow this. Unless the axis is `mb`, `seed`
/// must also leave the dim open and not split it.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
