//===- ShardedOp.h - one op's rule and which axes split its factors -------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/Seeds.h"

#include <memory>

namespace pcc::shard {

/// What the batch and the sequence of the model are: the dims that `dp` and
/// `mb`, and `cp`, may split; the stripes that the sequence lies in, which only
/// axes of the user's own may split; the heads within attention, which `cp` may
/// split instead; and the experts, if they are asked for.
enum class FactorTag : uint8_t { None, Batch, Stripe, Sequence, Head, Expert };

/// What one more sub-axis does to an op.
struct Strategy {
  enum StrategyKind : uint8_t {
    Replicate, ///< nothing: every rank along the axis does the same
    Split,     ///< splits `index`, a factor
    Through,   ///< lets a partial sum pass from operand `index` (all of
               ///< `partialThrough` if they go together)
    Ring,      ///< splits `index`, the queries of attention, and its keys
  };
  StrategyKind kind = Replicate;
  int index = -1;
};

/// A rule whose factors have been cut finer, so that they fit those of the
/// neighbours: 192 columns of a fused projection become 3, 8 and 8, because
/// further down they are sliced in 3 and seen as 8 heads of 8.
struct RefinedRule : graph::ShardingRule {
  /// Per factor of the op's own rule, its parts, major to minor: ids of
  /// `factors`.
  llvm::SmallVector<DimFactors> parts;

  explicit RefinedRule(graph::ShardingRule rule);

  /// Cuts factor `id` into `sizes`, which multiply to its size.
  void refine(int id, llvm::ArrayRef<int64_t> sizes);
};

/// The rule of `op`; that of a transfer moves its operand as it is: every dim
/// may be split, and a sum over microbatches may be on its way.
graph::ShardingRule ruleOf(mlir::Operation *op);

/// Cuts the factors of `tensor`, an operand or result of `rule`, as `sharding`
/// cuts its dims, as far as they may be cut.
void refineLike(RefinedRule &rule,
                const graph::ShardingRule::TensorFactors &tensor,
                const dist::Sharding &sharding);

/// An op of the graph, a function argument (a source without operands) or a
/// function result (a sink without results), with the axes that have been given
/// to its factors so far.
///
/// Invariant: every axis is either in `axes` of one factor, or of both factors
/// of a ring (Ring.h), or in `through`, or unused.
struct ShardedOp {
  mlir::Operation *op = nullptr;
  std::shared_ptr<const RefinedRule> rule;  ///< shared by all copies
  llvm::SmallVector<dist::SubAxes, 0> axes; ///< per factor, major first
  dist::SubAxes through; ///< axes along which a partial sum passes
  /// Per entry of `through`: the operand, or -1 for all of `partialThrough`.
  llvm::SmallVector<int, 2> throughOperand;

  /// All windows are used, also the optional ones and those of dims that
  /// nothing splits.
  bool usesAllWindows = false;

  ShardedOp(mlir::Operation *op, std::shared_ptr<const RefinedRule> rule);

  /// A copy with one more axis.
  ShardedOp with(const dist::SubAxis &axis, const Strategy &strategy) const;

  dist::Sharding operandSharding(unsigned operand) const;
  dist::Sharding resultSharding(unsigned result) const;

  /// The factors of the op's own rule as the dims of one sharding: what
  /// `dist.split` records. Partial axes are those that pass through.
  dist::Sharding split() const;

  /// How a tensor of these factors lies.
  dist::Sharding
  tensorSharding(const graph::ShardingRule::TensorFactors &dims) const;

  /// Whether some factor is split by `axis` or a part of it.
  bool isSplitBy(const dist::Axis &axis) const;

  /// The axes along which parts talk, in order of the factors: those that split
  /// Inner factors, or, in a ring, Whole ones.
  dist::SubAxes innerAxes() const;

  /// Whether the op reads through `window` as it is split.
  bool uses(const graph::ShardingRule::Window &window) const;

private:
  /// What the op takes of a dim that it reads through a window.
  dist::DimSharding
  windowSharding(const graph::ShardingRule::Window &window) const;
};

dist::ReductionKind reductionOf(graph::FactorKind kind);

/// All that `axis` may do to `op`: replicate, split any factor that is not
/// whole, make a ring, or pass a partial sum, but not past parts that exchange
/// inner values.
llvm::SmallVector<Strategy> strategiesOf(const ShardedOp &op,
                                         const dist::SubAxis &axis);

/// All that `parts`, the parts of one axis, may do to `op` together, if each
/// choice that is made passes `may`. One factor takes as many parts, major
/// first, as it has room for; what is left goes to one other factor or to none:
/// 2 key/value heads take half of an axis of 4, and the 4 queries of each head
/// may take the rest. Unless `mixesDims`, that is a factor that follows
/// the first one in some dim. Ops with windows that narrow may use them. Where
/// `seeds` split a factor of this size over more ranks than it has elements, or
/// order axes another way, that is offered too.
llvm::SmallVector<ShardedOp, 0>
candidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
             const Seeds &seeds, llvm::function_ref<bool(const Strategy &)> may,
             bool mixesDims = true);

/// The same for a pin to `seed`, of whose axes those in `decided` have been
/// handed out, `parts` being the last: they split what the seed says. Only the
/// time axis, and axes that the seed does not use on dims that it leaves open,
/// have a choice.
llvm::SmallVector<ShardedOp, 0>
pinnedCandidatesOf(const ShardedOp &op, llvm::ArrayRef<dist::SubAxis> parts,
                   const dist::Sharding &seed, const dist::SubAxes &decided,
                   llvm::function_ref<bool(const Strategy &)> may);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOP_H
