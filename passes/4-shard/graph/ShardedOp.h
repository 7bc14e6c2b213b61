//===- ShardedOp.h - sharding rule of one op and the axes that split it ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// The dim of the model that a factor belongs to. An axis with a role
/// (AxisRole.h) splits the factors of its tag; `tp` splits any factor but Batch
/// and Stripe, and axes that the user named split any factor.
///
///   tag        dim of the model                            axes with that role
///   Batch      samples                                     dp, mb
///   Stripe     stripes of the sequence (Stripes.h)         none
///   Sequence   tokens, or the tokens of each stripe        cp
///   Head       heads within attention                      cp, instead of tokens
///   Expert     experts, if `--ep` is given (ExpertDims.h)  parts of dp and cp
enum class FactorTag : uint8_t { None, Batch, Stripe, Sequence, Head, Expert };

/// One way in which an op can use one more sub-axis.
struct Strategy {
  enum StrategyKind : uint8_t {
    /// Does not use the axis: all ranks along it compute the same.
    Replicate,
    /// Splits factor `index`.
    Split,
    /// Lets a partial sum pass from operand `index` to the results. An `index`
    /// of -1 means all operands in the rule's `partialThrough` together.
    Through,
    /// Splits factor `index`, the queries of an attention, and at once the
    /// keys: ring attention (RingAttention.h).
    Ring,
  };
  StrategyKind kind = Replicate;
  /// Id of a factor or index of an operand, as `kind` says; -1 if unused.
  int index = -1;
};

/// A sharding rule whose factors have been cut so that they match the factors
/// of adjacent ops. Example: the 192 columns of a fused QKV projection become
/// the factors 3, 8 and 8, because later ops slice them in 3 and view each
/// slice as 8 heads of 8.
struct RefinedRule : graph::ShardingRule {
  /// Per factor of the op's unrefined rule: the ids in `factors` of its parts,
  /// major to minor.
  llvm::SmallVector<DimFactors> parts;

  /// Starts from the unrefined `rule`: each factor is its only part.
  explicit RefinedRule(graph::ShardingRule rule);

  /// Cuts factor `id` into parts of the given sizes, major to minor, in every
  /// operand, result and inner value. The product of `sizes` must be the size
  /// of the factor. The first part keeps `id`; the others get new ids.
  void refine(int id, llvm::ArrayRef<int64_t> sizes);
};

/// Returns the sharding rule of `op`. An op without ShardingRuleOpInterface,
/// such as `pipe.transfer` or `dist.pin`, forwards its operand: every dim may
/// be split, and a partial sum (for example over microbatches) may pass.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts the factors of `tensor`, an operand or result of `rule`, at the factor
/// boundaries of `sharding`. Factors that must stay whole or contiguous are not
/// cut.
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// A vertex of ShardedGraph with the sub-axes that have been assigned to its
/// factors so far. The vertex is an op, a function argument (a source without
/// operands), a function result (a sink without results) or a pin.
///
/// Invariant: every assigned sub-axis is in `axes` of one factor, or in `axes`
/// of both factors of a ring (RingAttention.h), or in `through`, or unused.
///
///   matmul [m, k] x [k, n] with axes[k] = {tp}:
///     operand 0 [-, k@tp]   operand 1 [k@tp, -]   result [-, -] partial sum(tp)
struct ShardedOp {
  /// The op; null for an argument, a function result and the pin of an op's
  /// value.
  mlir::Operation *op = nullptr;
  /// The refined rule, shared by all copies of this vertex; never null.
  std::shared_ptr<const RefinedRule> rule;
  /// Per factor of `rule`: the sub-axes that split it, major first.
  llvm::SmallVector<dist::SubAxes, 0> axes;
  /// Sub-axes along which a partial sum passes from operands to results.
  dist::SubAxes through;
  /// Per entry of `through`: index of the operand that is partial, or -1 if all
  /// operands in `rule->partialThrough` are partial.
  llvm::SmallVector<int, 2> throughOperand;

  /// True if the op reads through all windows of its rule. Otherwise it reads
  /// only through windows that are not optional and whose dim of the result is
  /// split.
  bool usesAllWindows = false;

  /// Creates a vertex to whose factors no axis is assigned. `op` may be null.
  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// Returns a copy that uses `axis` as `strategy` says. Strategy::Ring is not
  /// handled here, since it changes two factors: candidatesOf builds rings.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  /// Returns the sharding that the op needs of operand `operand`, in canonical
  /// form. Dims that the op reads through a window have a view (halo).
  dist::Sharding operandSharding(unsigned operand) const;
  /// Returns the sharding in which the op produces result `result`, in
  /// canonical form. The result is partial along the axes that split reduction
  /// factors and along those in `through`. A `graph.accumulate` ends sums over
  /// the time axis.
  dist::Sharding resultSharding(unsigned result) const;

  /// Returns the sharding that `dist.split` records: dim i is factor i of the
  /// op's unrefined rule, and the partial axes are those in `through`.
  dist::Sharding split() const;

  /// Returns the sharding of a tensor with the given factors per dim. It has no
  /// partial axes and is not in canonical form.
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Returns whether `axis`, or a part of it, splits some factor.
  bool isSplitBy(const dist::Axis &axis) const;

  /// Returns the axes along which the parts of the op exchange values, in order
  /// of the factors: axes of Inner factors and, in a ring, of Whole ones.
  dist::SubAxes innerAxes() const;

  /// Returns whether the op reads through `window` with its present axes.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// Returns the sharding of the dim that the op reads through `window`: as the
  /// dim of the result is split, seen through a view (halo).
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

/// Returns the reduction that combines the partial results of a split factor of
/// this kind. Kinds without a reduction give Sum.
dist::ReductionKind reductionOf(graph::FactorKind kind);

/// Returns all strategies that `op` has for one more sub-axis, Replicate first.
/// A factor of kind Whole is never split. A partial sum cannot pass an op whose
/// parts exchange inner values. The result does not depend on `axis`.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op,
                                         const dist::SubAxis &axis);

/// Returns all copies of `op` that use `parts`, the parts of one axis (major
/// first), by strategies that `may` accepts.
///
/// A factor takes as many parts, major first, as it has elements for. The
/// remaining parts go to one other factor or to none. Example: an axis of 4 as
/// the parts 2, 2 and an attention with 2 key heads of 4 queries each; the key
/// heads take the first part, and the queries of a head may take the second.
/// Unless `mixesDims`, the other factor must follow the first one in some dim.
///
/// Every candidate of an op with narrowing windows is offered twice, without
/// and with all windows used. Orders of axes that `seeds` ask for, parts that
/// they name and factors that they split over more ranks than elements are
/// offered as well.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// Returns all copies of `op`, a pin to `seed`, that use `parts`. `decided`
/// holds the axes assigned so far, those of `parts` last. These axes split what
/// the seed says, which leaves one candidate. There is a choice only for the
/// time axis, and for an axis that the seed does not name where the seed leaves
/// dims open.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
