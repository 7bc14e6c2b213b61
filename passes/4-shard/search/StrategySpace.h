//===- StrategySpace.h - choices of each op for the next axes, priced -----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
#define PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H

#include "passes/4-shard/graph/AxisRole.h"
#include "passes/4-shard/graph/Pricing.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/4-shard/policy/BatchOrder.h"
#include "passes/4-shard/policy/ContractionWeights.h"
#include "passes/4-shard/policy/ExpertDims.h"
#include "passes/4-shard/policy/MegatronLayout.h"
#include "passes/4-shard/policy/SequenceOps.h"
#include "passes/4-shard/policy/StoredWeights.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Returns whether an axis with role `role` may use `strategy`, a way of using
/// the axis, at vertex `index` of the graph. Ignores the additional rules for
/// divided experts, which StrategySpace checks. `inTime` is true only for the
/// time axis `mb`.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Returns whether a factor (dim, or part of a dim) of kind `kind` may be cut
/// into microbatches. True for the kind Parallel (no reduction). True for the
/// kind Sum if the function trains, because training adds the sums of all
/// microbatches.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// A mesh axis, or some of its sub-axes, that the search assigns in one step.
struct AxisAssignment {
  /// The sub-axes to assign. They belong to one mesh axis, have prime sizes,
  /// and are sorted major first.
  dist::SubAxes parts;
  /// Role of the axis, which decides what it may split.
  AxisRole role;
  /// Whether the axis may split anything in the expert region (ops around the
  /// experts; ExpertDims.h). If false, it may split only the experts and the
  /// dim of its role (batch or sequence).
  bool movesTokens = true;
  /// Whether the parts (sub-axes) of the axis may split two different dims, if
  /// the first dim has too few elements for all parts. If false, parts for
  /// which the first factor (part of a dim) is too small may only split the
  /// next factor of the same dim.
  bool mixesDims = true;
};

/// One choice of a vertex (op, argument or result) in the search: a way of
/// splitting it, with its cost.
struct OpChoice {
  /// The vertex with the axes that this choice assigns to it.
  ShardedOp op;
  /// Cost of communication inside of the op, computation, memory and broken
  /// rules. Excludes reshards of operands and results.
  plan::Cost cost;
  /// By operand: the sharding in which the vertex needs it.
  llvm::SmallVector<dist::Sharding, 2> operands;
  /// By result: the sharding in which the vertex produces it.
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// All choices of all vertices (ops, arguments, results) of a graph for the
/// axes that are to be assigned. In the search, each vertex is a variable, and
/// its choices are the values of the variable (AxisSearch.h).
class StrategySpace {
public:
  /// Makes the choices of all vertices. Each element of `orders` is an order in
  /// which axes may be assigned. The search may use a different order for each
  /// vertex. `before` contains the axes assigned earlier. `graph`, `seeds`
  /// (requested shardings) and `planner` must outlive this object.
  StrategySpace(const ShardedGraph &graph,
                llvm::ArrayRef<std::vector<AxisAssignment>> orders,
                const dist::SubAxes &before, const Seeds &seeds,
                plan::ReshardPlanner &planner);

  /// Returns the choices (ways of splitting, with costs) of vertex `op` of the
  /// graph. There is at least one.
  const std::vector<OpChoice> &choicesOf(unsigned op) const {
    return choices[op];
  }

  /// Returns an estimate of the number of pairs (choice of the producer, choice
  /// of the user), summed over all edges of the graph.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// A way of splitting a vertex while axes are assigned one after another,
  /// with the penalty for the rules that it breaks.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state`, a way of splitting an op, to `states`. If an equal way is in
  /// `states` already, keeps only the one with the smaller penalty.
  static void add(SearchState state, States &states);
  /// Replaces `states`, ways of splitting vertex `index` of the graph. Each old
  /// way becomes several new ones, which also use the axis of `assignment`.
  /// Adds the axis to `decided`, unless the assignment has role Storage (ZeRO,
  /// FSDP).
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  /// Assigns an axis of role Storage (ZeRO, FSDP) to vertex `index` of the
  /// graph. If ranks store the result of the vertex divided, splits the result
  /// over all parts (sub-axes) of the axis that are still unused. Otherwise
  /// calls followStored.
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Assigns an axis of role Storage (ZeRO, FSDP) to a vertex whose result is
  /// not stored divided. Two kinds of vertices may be split over the unused
  /// parts of the axis:
  ///
  /// - ops of the optimizer update;
  /// - casts of a tensor that is stored divided.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` of the graph may use `strategy` for the
  /// axis of `assignment`. Checks the role of the axis, and the rules for
  /// experts, for stored tensors (ZeRO, FSDP) and for ordered sums
  /// (`--reproducible`).
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether `strategy` keeps the order in which sums over the batch
  /// are added at vertex `index` of the graph. Always true without
  /// `--reproducible`.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether the axis of `assignment` may split a factor (dim, or part
  /// of a dim) with the tag `tag` of vertex `index`. The model must have
  /// divided experts, and knowsExperts must be true for the role of the axis.
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  /// Appends variants of some `candidates`. In these candidates, the axis of
  /// `assignment` and an axis of the sequence (`cp`) split the same heads. In
  /// the variants, `cp` is the minor axis.
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  /// Returns whether vertex `index` of the graph must split the dim of the
  /// axis's role (the batch or the sequence), if it has that dim.
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Returns over how many parts of the axis `op`, a way of splitting vertex
  /// `index` of the graph, splits the dim of the axis's role (the batch or the
  /// sequence). With --reproducible a batch has a factor for each part; without
  /// it, only the first part counts.
  int numRoleParts(unsigned index, const ShardedOp &op,
                   const AxisAssignment &assignment) const;
  /// Returns the penalty for the rules that `after`, a way of splitting vertex
  /// `index` of the graph, breaks. It uses one more sub-axis, `part`, than
  /// `before`.
  double penaltyOf(unsigned index, const ShardedOp &before,
                   const ShardedOp &after, const dist::SubAxis &part,
                   AxisRole role) const;
  /// Returns whether vertex `index` of the graph is an input with a batch that
  /// the axis of `part` must split.
  bool mustSplitBatch(unsigned index, const dist::SubAxis &part) const;
  /// Returns the choice for vertex `index` of the graph, split as in `state`,
  /// with its cost and the shardings of operands and results.
  OpChoice choiceOf(unsigned index, SearchState state) const;

  const ShardedGraph &graph;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  MegatronLayout megatron;
  StoredWeights stored;
  SequenceOps tokens;
  BatchOrder batchOrder;
  /// Whether `--reproducible` fixes the order of sums over the batch.
  bool ordersSums;
  /// The expert region (ops around the experts), if the experts of the model
  /// are divided.
  std::optional<ExpertRegion> experts;
  /// By vertex: its choices, ways of splitting it.
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
