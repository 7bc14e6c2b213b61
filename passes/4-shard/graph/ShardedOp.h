//===- ShardedOp.h - sharding rule of one op and the axes that split it ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// Tag of a factor (a dim of an op, or part of a dim). It names the dim of the
/// model to which the factor belongs; other dims have the tag None. The tag
/// decides which mesh axes may split the factor:
///
///   tag        dim of the model                            axes
///   Batch      samples                                     dp, mb
///   Stripe     stripes of the sequence (Stripes.h)         none
///   Sequence   tokens, or the tokens of each stripe        cp, tp
///   Head       heads within attention                      cp, tp
///   Expert     experts, if `--ep` is given (ExpertDims.h)  tp, parts of dp, cp
///
/// Axes that the user named in `--mesh` may split every factor.
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
/// match the factors of adjacent ops. An example is the result of a fused QKV
/// projection with 8 heads of size 8:
///
///   dim of 192   ->   factors 3, 8 and 8
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

/// Returns the sharding rule of `op`. Ops without ShardingRuleOpInterface, such
/// as `pipe.transfer` or `dist.pin`, forward their operand: every dim may be
/// split, and partial sums may pass.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts factors (dims, or parts of dims) of one tensor as `sharding` cuts its
/// dims. `tensor` lists the factors of an operand or result of `rule`. For
/// example, a dim of 12 elements is one factor in `rule`, and has the factors 3
/// and 4 in `sharding`. The factor of `rule` is then cut into 3 and 4.
///
/// Does not cut a factor that must not be split (kind Whole), or whose parts
/// must be contiguous.
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// A vertex of ShardedGraph with the sub-axes that have been assigned to its
/// factors (dims, or parts of dims) so far. The vertex is an op, a function
/// argument, a function result or a pin (a requested sharding of a value).
///
/// Invariant: a sub-axis is unused, or has exactly one of these uses:
///
/// - It splits one factor.
/// - It splits the two factors of ring attention (RingAttention.h).
/// - Operands and results are partial sums along it (`through`).
///
///   matmul [m, k] x [k, n] with axes[k] = {tp}:
///     operand 0 [-, k@tp]  operand 1 [k@tp, -]  result [-, -] partial sum(tp)
struct ShardedOp {
  /// The IR op. Null for a function argument, a function result, and a pin
  /// (requested sharding) that comes after an op.
  mlir::Operation *op = nullptr;
  /// The sharding rule, with factors (dims, or parts of dims) cut to match the
  /// factors of adjacent ops. Shared by all copies of this vertex; never null.
  std::shared_ptr<const RefinedRule> rule;
  /// axes[f] lists the sub-axes that split factor f (a dim, or part of a dim)
  /// of `rule`, major first.
  llvm::SmallVector<dist::SubAxes, 0> axes;
  /// Sub-axes along which operands are partial sums (values that ranks still
  /// have to add). Along these sub-axes, the results are partial sums as well.
  dist::SubAxes through;
  /// throughOperand[i] belongs to the sub-axis through[i]. It is the index of
  /// the operand that is a partial sum along this sub-axis. A partial sum has
  /// one addend on each rank. The number is -1 if several operands are partial
  /// sums together, as in an addition. These are all operands in
  /// `rule->partialThrough`.
  llvm::SmallVector<int, 2> throughOperand;

  /// Whether the op uses all windows of its rule. A window is the range of an
  /// operand's dim that the op reads, such as the range of a slice. If the op
  /// uses a window, each rank receives the operand elements that its part of
  /// the result needs. If false, the op uses a window only if the same dim of
  /// the result is split and the window is not optional (see `uses`).
  bool usesAllWindows = false;

  /// Creates a vertex whose factors (dims, or parts of dims) are not split.
  /// `op` may be null.
  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// Returns a copy of this op that uses the sub-axis `axis` as `strategy`
  /// describes. Strategy::Ring is not allowed, because ring attention splits
  /// two dims at once; candidatesOf creates such copies.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  /// Returns the sharding in which the op needs operand number `operand`, in
  /// canonical form. If the op uses a window of a dim, the sharding of the dim
  /// has a view. A window is the range of an operand's dim that the op reads.
  /// The view says which elements of the dim each rank reads. Some of them may
  /// belong to other ranks (halo). Example: a convolution with 3 filter rows
  /// and a pad of 1 row reads 8 rows that 2 ranks split. Rank 1 computes result
  /// rows 4 to 7, and reads rows 3 to 8, where row 3 belongs to rank 0 and row
  /// 8 is padding.
  dist::Sharding operandSharding(unsigned operand) const;
  /// Returns the sharding of result number `result`, in canonical form. The
  /// result is partial (still to be reduced) along sub-axes that split a
  /// reduced dim, or along which an operand is partial. Exception: the result
  /// of `graph.accumulate` is complete along the time axis `mb` (microbatches).
  dist::Sharding resultSharding(unsigned result) const;

  /// Returns the sharding that the attribute `dist.split` stores. It describes
  /// the op, not a tensor: dim i is loop index number i of the op. The partial
  /// axes are those along which operands are partial sums.
  ///
  ///   matmul with the loop indices m, n and k; tp splits k:   [-, -, k@tp]
  dist::Sharding split() const;

  /// Returns the sharding of a tensor. `dims` lists the factors of each dim of
  /// the tensor. A factor is a dim, or part of a dim. In the returned sharding,
  /// each factor is split over its axes in the member `axes`. The sharding has
  /// no partial sums (values that ranks still have to add), and it is not in
  /// canonical form.
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Returns whether `axis`, or a part of it, splits some factor (dim of the
  /// op, or part of one).
  bool isSplitBy(const dist::Axis &axis) const;

  /// Returns the axes along which ranks exchange values while the op runs, in
  /// the order of the factors (dims, or parts of dims). These axes split a
  /// factor of kind Inner, such as the dim of a softmax, or the keys in ring
  /// attention.
  dist::SubAxes innerAxes() const;

  /// Returns whether the op uses `window`. A window is the range of an
  /// operand's dim that the op reads, such as the range of a slice. If the op
  /// uses the window, each rank receives the operand elements that its part of
  /// the result needs. If not, the operand's dim is split by its factors, like
  /// any other dim.
  ///
  /// Returns true in two cases:
  ///
  /// - `usesAllWindows` is true.
  /// - The same dim of the result is split, and `window.optional` is false. If
  ///   `window.optional` is true, ranks can split the dim without receiving
  ///   elements from other ranks, so the window is not needed.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// Returns the sharding of the operand's dim that the op reads through
  /// `window`. A window is the range of an operand's dim that the op reads.
  /// Ranks split the same dim of the result. The returned sharding has a view:
  /// it says which operand elements each rank needs for its part of the result.
  /// Example: ranks 0 and 1 split x[3:11], which has 8 elements. Rank 0 needs
  /// elements 3 to 6 of x, and rank 1 needs elements 7 to 10.
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

/// Returns all strategies of `op`, that is, its ways of using one more
/// sub-axis. Replicate (no use) comes first. A factor (dim, or part of a dim)
/// of kind Whole must stay whole, so there is no strategy that splits it. The
/// result is equal for every `axis`.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op,
                                         const dist::SubAxis &axis);

/// Returns copies of `op`, one for each way of using one more mesh axis.
/// `parts` are the sub-axes of this axis, each of a prime size, major first. A
/// factor is a dim, or part of a dim.
///
/// - A strategy is a kind of use, such as a split of one factor (Strategy).
///   Only strategies for which `may` returns true are used.
/// - If a copy splits a factor, it splits the factor over as many of `parts` as
///   the factor has elements for. If some of `parts` are left, there are two
///   kinds of copies. In one kind, the rest stays unused. In the other, the
///   rest splits another factor. If this factor has too few elements, the
///   factors that come directly after it in a dim take what is left.
/// - If `mixesDims` is false, the other factor must come directly after the
///   first factor in a dim.
/// - A window is the range of an operand's dim that the op reads. If some
///   window is smaller than its dim, and `op.usesAllWindows` is false, each
///   copy occurs twice: with `usesAllWindows` false and true.
/// - `seeds` are requested shardings. If a request splits a dim in an unusual
///   way, such as another order of axes, further copies are split in this way.
///
/// Example: an attention has 2 key heads, and 4 query heads for each key head.
/// `parts` are 2 sub-axes of size 2. In one copy, the first sub-axis splits the
/// key heads, and the second splits the query heads.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// Returns copies of `op`, a pin. A pin is a vertex with a requested sharding,
/// here `seed`. There is one copy for each way of using one more mesh axis.
/// `parts` are the sub-axes of this axis, each of a prime size. `decided`
/// contains all axes that the search has assigned so far, including `parts`. A
/// factor is a dim, or part of a dim.
///
/// The first copy is split over the axes of `seed` that are in `decided`. Each
/// other copy also splits one more factor over `parts`, if `may` allows this
/// split. There are other copies only in two cases:
///
/// - `parts` belong to the axis `mb`, along which the parts are microbatches.
///   No `seed` names this axis. Any factor may then be split.
/// - `seed` does not name the axis of `parts`. A factor may then be split only
///   if its dim is open and not split in `seed`. A dim is open if `seed` allows
///   further splits.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
