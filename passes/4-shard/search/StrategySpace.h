//===- StrategySpace.h - what axes may do to each op, and its price -------===//

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

/// Whether an axis of this role may do this to op `index`, experts apart;
/// `inTime` is true for `mb` alone.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Whether microbatches may have parts of a factor of this kind. Sums of them
/// are possible where they can accumulate.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// An axis, or a part of one, that is to be handed out.
struct AxisAssignment {
  dist::SubAxes parts; ///< of one axis, prime, major first
  AxisRole role;
  /// Between tokens and experts it splits anything, not only what the role
  /// names.
  bool movesTokens = true;
  /// Parts that a dim has no room for may split any other one.
  bool mixesDims = true;
};

/// What one op may be made to do, what that costs by itself, and how its
/// tensors lie then.
struct OpChoice {
  ShardedOp op;
  plan::Cost cost;
  llvm::SmallVector<dist::Sharding, 2> operands;
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// All that may be done to the ops of a graph by handing out axes.
class StrategySpace {
public:
  /// Any of `orders` may be taken, each op by itself: they are the same assignments
  /// in different order, and come after the axes in `before`. The graph, the
  /// seeds and the planner must outlive this.
  StrategySpace(const ShardedGraph &graph,
                llvm::ArrayRef<std::vector<AxisAssignment>> orders,
                const dist::SubAxes &before, const Seeds &seeds,
                plan::ReshardPlanner &planner);

  /// At least one per op.
  const std::vector<OpChoice> &choicesOf(unsigned op) const {
    return choices[op];
  }

  /// About how many pairs of choices meet at the values of the graph.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// An op with some of the assignments handed out, and the rules broken by that.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  static void add(SearchState state, States &states);
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  bool splitsRoleDim(unsigned index, const ShardedOp &op,
                     const AxisAssignment &assignment) const;
  double penaltyOf(unsigned index, const ShardedOp &before,
                   const ShardedOp &after, const dist::SubAxis &part,
                   AxisRole role) const;
  bool leavesBatchWhole(unsigned index, const ShardedOp &op,
                        const dist::SubAxis &part) const;
  OpChoice choiceOf(unsigned index, SearchState state) const;

  const ShardedGraph &graph;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  MegatronLayout megatron;
  StoredWeights stored;
  SequenceOps tokens;
  bool ordersSums;                     ///< sums over the batch have an order
  std::optional<ExpertRegion> experts; ///< where some role knows of them
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
