//===- StrategySpace.h - choices of each op for the next axes, priced -----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
#define PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H

#include "passes/4-shard/graph/AxisRole.h"
#include "passes/4-shard/graph/Pricing.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/4-shard/policy/ContractionWeights.h"
#include "passes/4-shard/policy/ExpertDims.h"
#include "passes/4-shard/policy/MegatronLayout.h"
#include "passes/4-shard/policy/SequenceOps.h"
#include "passes/4-shard/policy/StoredWeights.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns whether an axis with role `role` may use `strategy` at vertex
/// `index`. Restrictions by experts are not considered (StrategySpace does).
/// `inTime` is true for the time axis `mb` alone.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Returns whether a factor of this kind may be cut into microbatches. Sums may
/// be cut if the function trains, since their parts can accumulate.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// A mesh axis, or a part of one, that is to be assigned.
struct AxisAssignment {
  /// The sub-axes to assign, all of one mesh axis, of prime sizes, major first.
  dist::SubAxes parts;
  /// The role in which they are assigned.
  AxisRole role;
  /// True if the axis may split anything inside the expert region
  /// (ExpertDims.h). False if it may split only what its role names.
  bool movesTokens = true;
  /// True if parts for which a factor has no room may split any other factor.
  /// False if they may only split the next factor of the same dim.
  bool mixesDims = true;
};

/// One value of a search variable: a state of one vertex.
struct OpChoice {
  /// The vertex with its axes.
  ShardedOp op;
  /// Cost of the state by itself: exchanges among its parts, computation,
  /// memory and broken rules. Reshards of operands and results are not
  /// included.
  plan::Cost cost;
  /// Shardings that the vertex needs of its operands.
  llvm::SmallVector<dist::Sharding, 2> operands;
  /// Shardings in which the vertex produces its results.
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// All choices of all vertices of a graph for the axes that are to be assigned.
/// A search variable is a vertex and its values are the choices (AxisSearch.h).
class StrategySpace {
public:
  /// Enumerates the choices. `orders` holds the same assignments in different
  /// orders. Every vertex may follow any of the orders, independent of other
  /// vertices. `before` holds the axes assigned earlier. The graph, the seeds
  /// and the planner must outlive this.
  StrategySpace(const ShardedGraph &graph,
                llvm::ArrayRef<std::vector<AxisAssignment>> orders,
                const dist::SubAxes &before, const Seeds &seeds,
                plan::ReshardPlanner &planner);

  /// Returns the choices of vertex `op`: at least one.
  const std::vector<OpChoice> &choicesOf(unsigned op) const {
    return choices[op];
  }

  /// Returns an estimate of the number of pairs of choices, summed over all
  /// edges of the graph.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// A state of a vertex while assignments are added, and its penalty so far
  /// for broken rules.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state` to `states`. If `states` has a state with the same split,
  /// keeps the smaller penalty.
  static void add(SearchState state, States &states);
  /// Replaces each of `states` by the states that follow from one assignment.
  /// Adds the axis to `decided`.
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  /// Handles an assignment of role Storage. States of a tensor that is stored
  /// in shards must use the parts that they do not use yet.
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Lets other vertices follow the shards: an update, or a cast of what is
  /// stored in shards, may split by the parts too.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` may use `strategy` for `assignment`,
  /// experts, stored shards and ordered sums included.
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether `strategy` keeps the order of sums over the batch, if
  /// `--reproducible` gives them one.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether an axis whose role knows experts may split a factor with
  /// `tag` of vertex `index`.
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  /// Adds candidates in which heads are split by the assigned axis before the
  /// axes of the sequence.
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  /// Returns whether the axis must split the dim of its role (batch or
  /// sequence) at vertex `index`, if it can.
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Returns whether the axis splits the dim of its role in `op`, a state of
  /// vertex `index`.
  bool splitsRoleDim(unsigned index, const ShardedOp &op,
                     const AxisAssignment &assignment) const;
  /// Returns the penalty for rules that the step from `before` to `after`,
  /// states of vertex `index`, breaks by its use of `part`.
  double penaltyOf(unsigned index, const ShardedOp &before,
                   const ShardedOp &after, const dist::SubAxis &part,
                   AxisRole role) const;
  /// Returns whether vertex `index` is an input with a batch that `part` does
  /// not split in state `op`.
  bool leavesBatchWhole(unsigned index, const ShardedOp &op,
                        const dist::SubAxis &part) const;
  /// Returns the priced choice of a state of vertex `index`.
  OpChoice choiceOf(unsigned index, SearchState state) const;

  const ShardedGraph &graph;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  MegatronLayout megatron;
  StoredWeights stored;
  SequenceOps tokens;
  /// Whether `--reproducible` gives sums over the batch an order.
  bool ordersSums;
  /// The expert region; present if the role of some assignment knows experts.
  std::optional<ExpertRegion> experts;
  /// Per vertex: its choices.
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
