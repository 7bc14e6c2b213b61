//===- ShardedOp.h - sharding rule of one op and the axes that split it ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// Tag of a factor: which dim of the model the factor belongs to. (A factor is
/// a dim of an op, or part of a dim.) An axis with a role (AxisRole.h) splits
/// the factors with certain tags. `tp` splits any factor but those with Batch
/// and Stripe, and axes that the user named split any factor. Within attention,
/// `cp` may split heads instead of tokens.
///
///   tag        dim of the model                            axes that split it
///   Batch      samples                                     dp, mb
///   Stripe     stripes of the sequence (Stripes.h)         none
///   Sequence   tokens, or the tokens of each stripe        cp
///   Head       heads within attention                      cp
///   Expert     experts, if `--ep` is given (ExpertDims.h)  parts of dp and cp
enum class FactorTag : uint8_t { None, Batch, Stripe, Sequence, Head, Expert };

/// A way in which an op can use one more sub-axis of the mesh.
struct Strategy {
  enum StrategyKind : uint8_t {
    /// Does not use the sub-axis: all ranks along it compute the same.
    Replicate,
    /// Splits the factor (dim of the op, or part of one) with index `index`.
    Split,
    /// A partial sum over the sub-axis (a value that ranks still have to add)
    /// passes from operand `index` to the results. In an addition, all operands
    /// must be partial sums together: `index` is then -1, and `partialThrough`
    /// of the rule lists these operands.
    Through,
    /// Ring attention (RingAttention.h): splits two factors (dims, or parts of
    /// dims) over the sub-axis, the queries and the keys. `index` is the factor
    /// of the queries.
    Ring,
  };
  StrategyKind kind = Replicate;
  /// For Split and Ring: index of a factor (dim of the op, or part of one). For
  /// Through: index of an operand. -1 if unused.
  int index = -1;
};

/// A sharding rule whose factors (dims, or parts of dims) have been cut to
/// match the factors of adjacent ops. For example, the 192 columns of a fused
/// QKV projection become the factors 3, 8 and 8, because later ops slice the
/// columns in 3 and view each slice as 8 heads of 8.
struct RefinedRule : graph::ShardingRule {
  /// parts[f] lists the factors into which factor f (a dim, or part of a dim)
  /// of the original rule has been cut, as indices into `factors`, major to
  /// minor.
  llvm::SmallVector<DimFactors> parts;

  /// Creates a copy of `rule` in which no factor (dim, or part of a dim) has
  /// been cut yet.
  explicit RefinedRule(graph::ShardingRule rule);

  /// Cuts factor `id` (a dim, or part of a dim) into smaller factors of the
  /// given sizes, major to minor. In every operand, result and inner value of
  /// the rule, the smaller factors replace factor `id`. The product of `sizes`
  /// must be the size of factor `id`. The first of the smaller factors keeps
  /// the index `id`; the following ones get new indices.
  void refine(int id, llvm::ArrayRef<int64_t> sizes);
};

/// Returns the sharding rule of `op`. An op without ShardingRuleOpInterface,
/// such as `pipe.transfer` or `dist.pin`, gets the rule of an op that forwards
/// its operand: every dim may be split, and partial sums may pass.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts the factors (dims, or parts of dims) of `tensor`, an operand or result
/// of `rule`, where factors of `sharding` end:
///
///   rule 12, sharding 3 and 4:   rule 3 and 4
///
/// A factor of kind Whole, or whose parts must be contiguous, is not cut.
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// A vertex of ShardedGraph with the sub-axes that have been assigned to its
/// factors (dims, or parts of dims) so far. The vertex is an op, a function
/// argument (no operands), a function result (no results) or a pin (a requested
/// sharding of a value).
///
/// Invariant: a sub-axis is used in at most one way. It splits one factor, or
/// the two factors of ring attention (RingAttention.h), or it is in `through`.
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
  /// Element i: index of the operand that is a partial sum along through[i].
  /// The index -1 means that all operands in `rule->partialThrough` are partial
  /// sums.
  llvm::SmallVector<int, 2> throughOperand;

  /// Whether the op uses all windows of its rule. A window is the range of an
  /// operand's dim that the op reads, such as the range of a slice. With a used
  /// window, a rank fetches only the elements that it reads. Without it, the
  /// operand's dim is split by its factors, like any other dim. If this flag is
  /// false, a window is used only if it is not optional and the dim of the
  /// result is split.
  bool usesAllWindows = false;

  /// Creates a vertex whose factors (dims, or parts of dims) are not split.
  /// `op` may be null.
  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// Returns a copy of this op that uses the sub-axis `axis` as `strategy`
  /// describes. Strategy::Ring is not allowed, because ring attention splits
  /// two dims at once; candidatesOf creates such copies.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  /// Returns the sharding in which the op needs operand number `operand`, in
  /// canonical form. A dim that the op reads through a window (range of the
  /// dim) has a view, which lists the elements that each rank needs (halo).
  dist::Sharding operandSharding(unsigned operand) const;
  /// Returns the sharding in which the op produces result number `result`, in
  /// canonical form. The result is partial (still to be reduced) along the axes
  /// that split a reduced dim, and along the axes in `through`.
  /// `graph.accumulate` adds up all microbatches, so the time axis in `through`
  /// does not count for it.
  dist::Sharding resultSharding(unsigned result) const;

  /// Returns the sharding that the attribute `dist.split` stores. It describes
  /// the op and not a tensor. Its dim i is factor i (a dim, or part of a dim)
  /// of the op's original rule. Its partial axes are the axes in `through`:
  ///
  ///   matmul with the factors m, n, k; axes[k] = {tp}:   [-, -, 8@tp]
  dist::Sharding split() const;

  /// Returns the sharding of a tensor whose dims consist of the factors in
  /// `dims`: each dim is split over the axes of its factors. The sharding is
  /// not partial (nothing is still to be reduced) and not in canonical form.
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Returns whether `axis`, or a part of it, splits some factor (dim of the
  /// op, or part of one).
  bool isSplitBy(const dist::Axis &axis) const;

  /// Returns the axes along which the parts of the op exchange values. These
  /// axes split factors (dims, or parts of dims) of kind Inner or, in ring
  /// attention, of kind Whole. They are listed in the order of the factors.
  dist::SubAxes innerAxes() const;

  /// Returns whether the op, as it is split, reads a dim through `window` (a
  /// range of the operand's dim), so that each rank needs only elements in the
  /// window. If false, the operand's dim is split by its factors, like any
  /// other dim.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// Returns the sharding of the operand's dim that the op reads through
  /// `window` (a range of the dim). The dim is split like the dim of the
  /// result. Its view lists the elements that each rank needs, halo included.
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

/// Returns all strategies (ways of using one more sub-axis) that `op` has,
/// Replicate first. A factor of kind Whole is never split. A partial sum cannot
/// pass an op whose parts exchange inner values. `axis` has no influence on the
/// result.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op,
                                         const dist::SubAxis &axis);

/// Returns all copies of `op` that use `parts`, the prime sub-axes of one axis
/// (major first). Only strategies for which `may` returns true are used.
///
/// - A factor (dim, or part of a dim) is split over as many parts, major first,
///   as it has elements for. The remaining parts split one other factor, or
///   none. Unless `mixesDims`, this factor must directly follow the first one
///   in some dim. Example with parts 2 and 2:
///
///     2 key heads with 4 query heads each:   part 0 splits the key heads,
///                                            part 1 the 4 query heads
///
/// - If a window (range of an operand's dim that the op reads) is smaller than
///   the dim, every copy is returned twice: without and with usesAllWindows.
/// - If `seeds` (requested shardings) contain unusual splits, these are tried
///   as well: another order of axes, only some of `parts`, or more ranks than
///   elements.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// Returns all copies of `op` that use `parts`, the prime sub-axes of one axis.
/// `op` is a pin, a vertex with the requested sharding `seed`. `decided`
/// contains all axes assigned so far; the last one covers `parts`.
///
/// Usually there is one copy, because the seed determines which dim each axis
/// splits. There may be several copies in two cases:
///
/// - The axis is the time axis (microbatches), which seeds never name.
/// - The seed does not name the axis, and leaves dims open.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
