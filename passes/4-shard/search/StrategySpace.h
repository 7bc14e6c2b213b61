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

/// Returns whether a mesh axis with role `role` may use `strategy` at vertex
/// `index` of the graph. A strategy is a way of using the axis, for example to
/// split one dim. `inTime` is true only if the axis is `mb`, whose coordinates
/// are microbatches, not ranks.
///
/// StrategySpace::mayTake calls this function, and then checks further rules:
/// for experts that are divided among ranks, for tensors that are stored
/// divided among ranks, and for `--reproducible`.
bool mayTake(const ShardedGraph &graph, unsigned index,
             const Strategy &strategy, AxisRole role, bool inTime = false);

/// Returns whether a factor (dim, or part of a dim) of kind `kind` may be cut
/// into microbatches. True for the kind Parallel (no reduction). True for the
/// kind Sum if the function trains, because training adds the sums of all
/// microbatches.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// One step of the search. A step decides for every op which dims one mesh axis
/// splits. Some steps decide this only for some sub-axes of one mesh axis.
struct AxisAssignment {
  /// The sub-axes to assign. They belong to one mesh axis, have prime sizes,
  /// and are sorted major first.
  dist::SubAxes parts;
  /// Role of the axis, which decides what it may split.
  AxisRole role;
  /// Says which dims the axis may split in the expert region. This region
  /// consists of the ops around the experts of a mixture-of-experts layer
  /// (ExpertDims.h). The value has an effect only if ranks divide the experts.
  /// An axis divides experts if ranks along the axis have different experts.
  ///
  /// The axis may always split the dims of its role, such as the batch for
  /// `dp`. In the expert region, it may also split these dims:
  ///
  /// - The axis divides experts, and the value is true: every dim.
  /// - The axis divides experts, and the value is false: the dim that counts
  ///   experts.
  /// - The axis does not divide experts, and the value is true: every dim
  ///   except the dim that counts experts. This does not apply to a
  ///   `graph.get_parameter`, which reads a weight: the axis may split only the
  ///   dims of its role.
  /// - The axis does not divide experts, and the value is false: no other dim.
  bool movesTokens = true;
  /// Whether two sub-axes of the axis may split two different dims of an op.
  /// Example: a weight has 2 rows and 8 columns. An axis of 4 ranks has two
  /// sub-axes of size 2. The first sub-axis splits the rows into 2 parts of one
  /// row. The second sub-axis cannot split the rows further.
  ///
  ///   true    The second sub-axis may split the columns.
  ///   false   The second sub-axis may not split the columns.
  ///
  /// The value does not matter if one dim consists of two parts. For example, a
  /// dim of 16 attention heads may consist of 2 groups of 8 heads. The first
  /// sub-axis may always split the groups, and the second sub-axis may always
  /// split the heads of each group.
  bool mixesDims = true;
};

/// One choice of a vertex (op, argument or result) in the search: a way of
/// splitting it, with its cost.
struct OpChoice {
  /// The vertex, split as in this choice. ShardedOp::axes lists the sub-axes
  /// that split each dim.
  ShardedOp op;
  /// Cost of the vertex if it is split as in this choice. The cost has four
  /// parts:
  ///
  /// - the communication that the op does while it runs
  /// - the time that a rank needs to compute its part of the op
  /// - the memory of one rank for the results and for temporary buffers
  /// - the penalty for each rule that the choice breaks
  ///
  /// The cost does not include reshards (changes of sharding) of operands and
  /// results.
  plan::Cost cost;
  /// operands[i] is the sharding in which this vertex of the graph needs its
  /// operand number i.
  llvm::SmallVector<dist::Sharding, 2> operands;
  /// results[i] is the sharding in which this vertex of the graph produces its
  /// result number i.
  llvm::SmallVector<dist::Sharding, 1> results;
};

/// All choices of all vertices (ops, arguments, results) of a graph for the
/// axes that are to be assigned. In the search, each vertex is a variable, and
/// its choices are the values of the variable (AxisSearch.h).
class StrategySpace {
public:
  /// Lists the choices (ways of splitting) of each vertex of `graph`.
  ///
  /// - `orders`: each element is a list of mesh axes in some order. Each choice
  ///   takes one axis after another in this order, and lets the axis split
  ///   something or nothing. The choices of a vertex come from all orders.
  /// - `before`: the mesh axes that earlier searches have assigned. No choice
  ///   changes what they split.
  /// - `seeds`: the requested shardings.
  /// - `planner`: prices communication.
  ///
  /// `graph`, `seeds` and `planner` must outlive this object.
  StrategySpace(const ShardedGraph &graph,
                llvm::ArrayRef<std::vector<AxisAssignment>> orders,
                const dist::SubAxes &before, const Seeds &seeds,
                plan::ReshardPlanner &planner);

  /// Returns the choices (ways of splitting, with costs) of vertex `op` of the
  /// graph. There is at least one.
  const std::vector<OpChoice> &choicesOf(unsigned op) const {
    return choices[op];
  }

  /// Estimates the number of pairs of choices in a search that assigns the axes
  /// of `assignments`. A choice is a way of splitting one vertex of the graph.
  /// An edge of the graph leads from the producer of a value to a user. A pair
  /// belongs to one edge: it is a choice of the producer and a choice of the
  /// user. For example, 3 choices of the producer and 4 choices of the user are
  /// 12 pairs. Returns the sum over all edges of `graph`.
  static double numPairs(const ShardedGraph &graph,
                         llvm::ArrayRef<AxisAssignment> assignments);

private:
  /// A way of splitting one vertex of the graph. `op` is the vertex with the
  /// axes that have been assigned so far. More axes may be assigned later.
  /// `penalty` is the sum of the penalties for all rules that `op` breaks. A
  /// rule is, for example, that `tp` must split each large weight.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state`, a way of splitting an op, to `states`. If an equal way is in
  /// `states` already, keeps only the one with the smaller penalty.
  static void add(SearchState state, States &states);
  /// Adds the mesh axis of `assignment` to each element of `states`. An element
  /// is a way of splitting vertex `index` of the graph. New elements replace
  /// it: all allowed ways in which the new axis also splits a dim, or splits
  /// nothing. Example: in one element, tp splits the columns of a weight. The
  /// new axis is x. Three elements replace this element:
  ///
  /// - x splits nothing
  /// - x splits the rows
  /// - x splits the part of the columns that each rank has
  ///
  /// `decided` lists the axes that are in `states`. The function adds the new
  /// axis to it, unless the axis has the role Storage (ZeRO, FSDP).
  void assign(unsigned index, const AxisAssignment &assignment,
              dist::SubAxes &decided, States &states) const;
  /// Adds the mesh axis of `assignment` to each element of `states`, the ways
  /// of splitting vertex `index` of the graph. The axis has the role Storage:
  /// the axis divides stored weights, gradients and optimizer states among
  /// ranks (ZeRO, FSDP). There are two cases:
  ///
  /// - The result of the vertex is such a stored tensor. The function splits
  ///   the result over the sub-axes of the axis that the vertex does not use
  ///   yet.
  /// - The result is no such tensor. The function calls followStored. This call
  ///   lets the axis split an op of the optimizer update, or a cast of a stored
  ///   tensor. It does not change any other vertex.
  void divideStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Adds the mesh axis of `assignment` to each element of `states`, the ways
  /// of splitting vertex `index` of the graph. The axis divides stored weights,
  /// gradients and optimizer states among ranks (ZeRO, FSDP). The result of the
  /// vertex is no such tensor. The axis may split two kinds of vertices:
  ///
  /// - an op of the optimizer update
  /// - a cast of a tensor that the axis divides
  ///
  /// Other vertices, and vertices with a requested sharding, stay as they are.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` of the graph may use `strategy` for the
  /// axis of `assignment`. Checks the role of the axis, and the rules for
  /// experts, for stored tensors (ZeRO, FSDP) and for ordered sums
  /// (`--reproducible`).
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether the option `--reproducible` allows `strategy`, a way of
  /// using a mesh axis, at vertex `index` of the graph. The option fixes the
  /// order in which the samples of the batch are added. Plans for different
  /// numbers of ranks then compute equal bits. The option forbids two
  /// strategies:
  ///
  /// - The axis splits the batch dim over which the op sums. Exception: the
  ///   compiler has rewritten the sum, so that its order is fixed
  ///   (mayDivideSum).
  /// - The op passes partial sums from operands to results, but it might change
  ///   the order of the additions (mayPassSum). A partial sum is a value that
  ///   ranks still have to add.
  ///
  /// Always returns true in two other cases:
  ///
  /// - The user does not give the option.
  /// - `role`, the role of the axis, is Tensor. An axis with this role does not
  ///   split the batch.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether the mesh axis of `assignment` may split a dim of vertex
  /// `index` of the graph. `tag` says what the dim counts: samples, tokens or
  /// experts, for example. The function is only for mixture-of-experts models
  /// whose experts are divided among ranks. It returns true in two cases:
  ///
  /// - The dim belongs to the role of the axis. `dp` and `mb` may split a dim
  ///   of samples. `cp` may split a dim of tokens or of attention heads.
  /// - The vertex is in the expert region, which consists of the ops around the
  ///   experts. The rules of AxisAssignment::movesTokens allow the split.
  ///
  /// The role of the axis must be BatchAndExperts, BatchOutsideExperts,
  /// SequenceAndExperts or SequenceOutsideExperts.
  bool mayTakeNearExperts(unsigned index, FactorTag tag,
                          const AxisAssignment &assignment) const;
  /// Appends variants of some elements of `candidates`, the ways of splitting
  /// vertex `index` of the graph. A candidate has a variant if both the mesh
  /// axis of `assignment` and the axis `cp` split the attention heads. The
  /// variant first splits the heads over the axis of `assignment`, and then
  /// splits each part over `cp`.
  void
  addBeforeSequenceAxes(unsigned index, const AxisAssignment &assignment,
                        llvm::SmallVectorImpl<ShardedOp> &candidates) const;
  /// Returns whether the mesh axis of `assignment` must split the batch or the
  /// sequence of vertex `index` of the graph. If the vertex has no such dim,
  /// the result has no effect.
  ///
  ///   mesh axis    must split
  ///   `dp`, `mb`   the batch of every vertex
  ///   `cp`         the sequence of the vertices in `tokens` (SequenceOps.h)
  ///   others       nothing
  ///
  /// Exception: if ranks divide the experts of a mixture-of-experts model, the
  /// result is false for the ops around the experts (ExpertRegion).
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Counts the sub-axes in `assignment.parts` that split certain dims of `op`.
  /// `op` is a way of splitting vertex `index` of the graph. The sub-axes
  /// belong to one mesh axis, which decides the dims:
  ///
  ///   mesh axis                              dims
  ///   `dp` (data parallelism)                the batch
  ///   `mb` (coordinates are microbatches)    the batch
  ///   `cp` (context parallelism)             the sequence, the attention heads
  ///   any other axis                         none; the result is 0
  ///
  /// With `--reproducible`, the function counts all of these sub-axes. Without
  /// it, the function looks only at the first element of `assignment.parts`, so
  /// the result is 0 or 1. Example: dp has two sub-axes of size 2, and both
  /// split the batch. The result is 2 with `--reproducible`, and 1 without it.
  int numRoleParts(unsigned index, const ShardedOp &op,
                   const AxisAssignment &assignment) const;
  /// Returns the penalty for the rules that vertex `index` of the graph breaks
  /// after one step of the search. A rule is, for example, that `tp` must split
  /// each large weight. A step decides which dims one mesh axis splits, or
  /// which dims some sub-axes of one mesh axis split.
  ///
  /// `before` is the vertex before the step, split over the axes that earlier
  /// steps have decided. `after` is the vertex after the step. `part` is the
  /// first sub-axis that the step decides. The function checks the rules only
  /// for this sub-axis. `role` is the role of its mesh axis.
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
  /// choices[v] lists the choices for vertex v of the graph. A choice is a way
  /// of splitting the vertex, together with its cost.
  std::vector<std::vector<OpChoice>> choices;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_STRATEGYSPACE_H
