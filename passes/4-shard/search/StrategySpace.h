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
/// the axis, at vertex `index` (an op of the graph). Does not check the
/// additional rules of models with divided experts; StrategySpace checks them.
/// `inTime` must be true only for the time axis `mb`.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Returns whether a factor (dim, or part of a dim) of this kind may be cut
/// into microbatches. A Parallel factor may be. A Sum factor may be if the
/// function trains, because partial sums can then accumulate over microbatches.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// A mesh axis, or some of its sub-axes, that the search assigns in one step.
struct AxisAssignment {
  /// The sub-axes to assign. They belong to one mesh axis, have prime sizes,
  /// and are sorted major first.
  dist::SubAxes parts;
  /// Role of the axis, which decides what it may split.
  AxisRole role;
  /// Whether the axis may split anything inside of the expert region
  /// (ExpertDims.h). If false, it may split only the dims of its role: the
  /// batch or the sequence, and the experts.
  bool movesTokens = true;
  /// Whether the parts (sub-axes) of the axis may split different dims. This
  /// matters if a factor (dim, or part of a dim) has too few elements for all
  /// parts of the axis. If true, the remaining parts may split any other
  /// factor; if false, only the next factor of the same dim.
  bool mixesDims = true;
};

/// One choice of a vertex (op, argument or result) in the search: a way of
/// splitting it, with its cost.
struct OpChoice {
  /// The vertex (op, argument or result) with the axes that this choice assigns
  /// to it.
  ShardedOp op;
  /// Cost of the choice without the reshards of operands and results:
  /// communication inside of the op, computation, memory and broken rules.
  plan::Cost cost;
  /// By operand: the sharding in which the vertex (op, argument or result)
  /// needs the operand.
  llvm::SmallVector<dist::Sharding, 2> operands;
  /// By result: the sharding in which the vertex (op, argument or result)
  /// produces the result.
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// All choices of all vertices (ops, arguments, results) of a graph for the
/// axes that are to be assigned. In the search, each vertex is a variable, and
/// its choices are the values of that variable (AxisSearch.h).
class StrategySpace {
public:
  /// Makes the choices of all vertices (ops, arguments, results). `orders`
  /// lists orders of the axes: each element contains all assignments. Each
  /// vertex may use its axes in any of these orders. `before` contains the axes
  /// assigned earlier. `graph`, `seeds` (requested shardings) and `planner`
  /// must outlive this object.
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
  /// of the user), summed over all edges (operands) of the graph.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// A way of splitting a vertex (op, argument or result) while axes are
  /// assigned one after another. Also the penalty for the rules that this way
  /// breaks so far.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state`, a way of splitting an op, to `states`. If an equal way is in
  /// `states` already, keeps only the one with the smaller penalty.
  static void add(SearchState state, States &states);
  /// Replaces each of `states`, ways of splitting vertex `index` of the graph,
  /// by all ways that result when the axis of `assignment` is assigned in
  /// addition. Adds the axis to `decided`, unless the assignment has role
  /// Storage.
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  /// Assigns an axis of role Storage (ZeRO, FSDP) to vertex `index` of the
  /// graph. If its result is stored divided among ranks, replaces each of
  /// `states` by states that also split the result over the unused parts of the
  /// axis. Otherwise calls followStored.
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Assigns an axis of role Storage (ZeRO, FSDP) to a vertex whose result is
  /// not stored divided among ranks. Only two kinds of vertices may be split
  /// over the unused parts of the axis:
  ///
  /// - ops of the optimizer update;
  /// - casts of a tensor that is stored divided.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` of the graph may use `strategy` for the
  /// axis of `assignment`. Takes into account the role of the axis and the
  /// rules for experts, for tensors that are stored divided (ZeRO, FSDP) and
  /// for ordered sums (`--reproducible`).
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether vertex `index` of the graph can use `strategy` without a
  /// change of the order in which sums over the batch are added. Always true
  /// without `--reproducible`.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// For a model with divided experts: returns whether the axis of `assignment`
  /// may split a factor (dim, or part of a dim) with the tag `tag` of vertex
  /// `index` of the graph. The role of the axis must be one that exists only in
  /// models with divided experts.
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  /// Finds the candidates in which the axis of `assignment` and an axis of the
  /// sequence (`cp`) split the same heads. Appends to `candidates` a copy of
  /// each, in which the axis of `assignment` is major to `cp`.
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  /// Returns whether vertex `index` of the graph must be split by the axis
  /// along the dim of the axis's role (the batch or the sequence), if the
  /// vertex has that dim.
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Returns whether `op`, a way of splitting vertex `index` of the graph,
  /// splits the dim of the axis's role (the batch or the sequence) over the
  /// axis.
  bool splitsRoleDim(unsigned index, const ShardedOp &op,
                     const AxisAssignment &assignment) const;
  /// Returns the penalty for the rules that are broken if vertex `index` of the
  /// graph, so far split as `before`, is split as `after`. `after` uses one
  /// more sub-axis, `part`.
  double penaltyOf(unsigned index, const ShardedOp &before,
                   const ShardedOp &after, const dist::SubAxis &part,
                   AxisRole role) const;
  /// Returns whether vertex `index` of the graph is an input of the model with
  /// a batch, and `op`, a way of splitting the vertex, does not split the batch
  /// over the sub-axis `part`.
  bool leavesBatchWhole(unsigned index, const ShardedOp &op,
                        const dist::SubAxis &part) const;
  /// Returns the finished choice for vertex `index` of the graph, split as in
  /// `state`: computes its cost, and the shardings of its operands and results.
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
  /// The expert region (ops around the experts). Present only if an axis to
  /// assign has a role that exists only in models with divided experts.
  std::optional<ExpertRegion> experts;
  /// By vertex (op, argument or result): its choices, that is, ways of
  /// splitting it.
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
