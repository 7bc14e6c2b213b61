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

/// Returns whether a mesh axis for the parallelism `role`, such as tensor
/// parallelism, may use `strategy`, such as a split of one dim, at node
/// `index`. `inTime` is true for the microbatch axis `mb`.
/// StrategySpace::mayTake also checks `--reproducible`, ZeRO and experts.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Returns whether microbatches may divide a dim of kind `kind` of an op. A Sum
/// dim may be divided only in training: each microbatch then computes an
/// addend, and a `graph.accumulate` adds the addends.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// One step of the search. A step decides for every op which dims one mesh axis
/// splits. Some steps decide this only for some sub-axes of one mesh axis.
struct AxisAssignment {
  /// The sub-axes to assign. They belong to one mesh axis, have prime sizes,
  /// and are sorted major first.
  dist::SubAxes parts;
  /// Parallelism for which the axis is used, such as data or tensor
  /// parallelism. It decides which dims the axis may split.
  AxisRole role;
  /// Selects the dims that the axis may split in the expert region
  /// (ExpertRegion, the ops around divided experts), in addition to its own
  /// dim. The own dim is the batch for `dp` and `mb` (microbatches), and the
  /// sequence for `cp`. The table tells whether ranks along the axis hold
  /// different experts or the same experts:
  ///
  ///   movesTokens   different experts   same experts
  ///   true          all dims            of activations, all dims but expert
  ///                                     dims; of weights, none
  ///   false         expert dims         none
  bool movesTokens = true;
  /// Whether two sub-axes of the axis may split different dims of an op, such
  /// as rows and columns of a weight. If false, two sub-axes may still split
  /// two factors of one dim, such as the 4 and the 8 of 32 heads = 4 · 8.
  bool mixesDims = true;
};

/// Candidate split of a node (op, argument or result) in the search, with its
/// cost.
struct OpChoice {
  /// The node, split as in this candidate. ShardedOp::axes lists the sub-axes
  /// that split each dim.
  ShardedOp op;
  /// Cost of the node in this candidate split: communication inside of the op,
  /// compute time, memory for results and temporary buffers, and penalties. The
  /// cost excludes reshards of operands and results.
  plan::Cost cost;
  /// operands[i] is the sharding in which this node of the graph needs its
  /// operand number i.
  llvm::SmallVector<dist::Sharding, 2> operands;
  /// results[i] is the sharding in which this node of the graph produces its
  /// result number i.
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// Candidate splits, with costs, of each node (op, argument or result) of a
/// graph over the mesh axes of one search. AxisSearch selects one candidate per
/// node.
class StrategySpace {
public:
  /// Computes the candidate splits of each node of `graph`. `orders` lists the
  /// same mesh axes in several orders. The order matters, because an axis may
  /// use up a dim that a later axis could split. The splits over the axes in
  /// `before` are already decided, and do not change. `graph`, `seeds`
  /// (shardings that the user set) and `planner` must outlive this object.
  StrategySpace(const ShardedGraph &graph,
                llvm::ArrayRef<std::vector<AxisAssignment>> orders,
                const dist::SubAxes &before, const Seeds &seeds,
                plan::ReshardPlanner &planner);

  /// Returns the candidate splits, with costs, of node `op` of the graph. There
  /// is at least one.
  const std::vector<OpChoice> &choicesOf(unsigned op) const {
    return choices[op];
  }

  /// Estimates the size of a search over the axes of `assignments`. The result
  /// is the sum over all edges of `graph`: the number of candidate splits of
  /// the producer times that of the user.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// Candidate split of one node over the mesh axes assigned so far. `penalty`
  /// is the cost of broken rules, such as a large weight that `tp` does not
  /// split.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state`, a way of splitting an op, to `states`. If an equal way is in
  /// `states` already, keeps only the one with the smaller penalty.
  static void add(SearchState state, States &states);
  /// Replaces each candidate split of node `index` in `states` by its
  /// extensions over the axis of `assignment`. `decided` lists the axes that
  /// earlier assignments have decided, completely or in part. Adds the axis to
  /// this list, unless the assignment is for ZeRO or FSDP (AxisRole::Storage).
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  /// Extends the candidate splits `states` of node `index` by an axis for ZeRO
  /// or FSDP (AxisRole::Storage). If the result of the node is a tensor that is
  /// stored divided among ranks, such as a weight with FSDP, splits the result
  /// over the sub-axes of the axis that split no dim yet. Otherwise calls
  /// followStored().
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Extends the candidate splits `states` of node `index` by an axis for ZeRO
  /// or FSDP, if the node is an op of the optimizer update, or casts a tensor
  /// that is stored divided among ranks. Each rank then computes only the shard
  /// that it stores. Does nothing for any other op, or if the user set the
  /// sharding. divideStored() handles the tensors that are stored divided.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether node `index` may use `strategy` for the axis of
  /// `assignment`. Checks the rules for the parallelism of the axis
  /// (shard::mayTake), for `--reproducible` (keepsOrder), for tensors that are
  /// stored divided among ranks (ZeRO, FSDP), and for divided experts
  /// (mayTakeNearExperts).
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether `strategy` keeps the order in which the elements of a sum
  /// over the batch are added. The option `--reproducible` fixes this order.
  /// For example, a split of a summed batch dim over ranks may change it.
  /// Always true without the option, and if `role` is AxisRole::Tensor.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether the axis of `assignment` may split a dim with the tag
  /// `tag` of node `index` (see AxisAssignment::movesTokens). Valid only if
  /// experts are divided among ranks. `assignment.role` must be one of the four
  /// AxisRoles with `Experts` in their names, such as BatchAndExperts.
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  /// For each candidate that splits attention heads over `cp` and the axis of
  /// `assignment`, appends a copy in which `cp` is the last of these axes. For
  /// example, the heads of a candidate are split over [cp, tp], and the heads
  /// of the copy over [tp, cp]. The reshard before the attention is then often
  /// cheaper, because it moves data over `cp` only.
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  /// Returns whether the axis of `assignment` must split its own dim of node
  /// `index`, if the node has this dim. The own dim is the batch for `dp` and
  /// `mb`, and the sequence or the attention heads for `cp`. For `cp`, the
  /// result is true only if the node is in SequenceOps. Returns false for ops
  /// around divided experts.
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Returns the number of sub-axes in `assignment.parts` that split a dim of
  /// `op` with the tag of the parallelism, such as Batch for `dp`. Without
  /// `--reproducible`, considers only the first sub-axis of the list, so the
  /// result is 0 or 1. Returns 0 for `tp` and for axes with names other than
  /// `dp`, `cp` and `mb`, because these axes have no tag.
  int numRoleParts(unsigned index, const ShardedOp &op,
                   const AxisAssignment &assignment) const;
  /// Returns a penalty if `part`, a sub-axis for the parallelism `role`, leaves
  /// a dim whole that it should split: for `tp`, a dim of a large weight or a
  /// dim that a Megatron preset requires; for an axis that divides experts, the
  /// expert dim. Returns 0 otherwise. `before` and `after` are node `index`
  /// without and with a split over `part`.
  double penaltyOf(unsigned index, const ShardedOp &before,
                   const ShardedOp &after, const dist::SubAxis &part,
                   AxisRole role) const;
  /// Returns whether node `index` of the graph is a model input with a batch
  /// dim, and the mesh axis of the sub-axis `part` must split this dim.
  bool mustSplitBatch(unsigned index, const dist::SubAxis &part) const;
  /// Returns the candidate split of node `index` of the graph that `state`
  /// describes, with its cost and the shardings of operands and results.
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
  /// choices[v] lists the candidate splits of node v of the graph, with their
  /// costs.
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
