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

/// Returns whether microbatches may divide a dim of an op. If they do, the op
/// runs once per microbatch, and each run computes one part of the dim. `kind`
/// is the kind of the dim in the sharding rule of the op:
///
/// - Parallel: the op does not add over the dim. The function returns true.
/// - Sum: the op adds the elements along the dim. Each run then computes only a
///   part of the sum. A training function adds these parts of all microbatches
///   later. An inference function does not. The function returns true only if
///   `graph` belongs to a training function.
/// - any other kind: the function returns false.
bool mayCutInTime(const ShardedGraph &graph, graph::FactorKind kind);

/// One step of the search. A step decides for every op which dims one mesh axis
/// splits. Some steps decide this only for some sub-axes of one mesh axis.
struct AxisAssignment {
  /// The sub-axes to assign. They belong to one mesh axis, have prime sizes,
  /// and are sorted major first.
  dist::SubAxes parts;
  /// Role of the axis, which decides what it may split.
  AxisRole role;
  /// Decides which dims the mesh axis of this step may split in the ops around
  /// the experts of a mixture-of-experts layer (ExpertDims.h). In every op,
  /// `dp` and `mb` may split the batch, and `cp` may split the sequence and the
  /// attention heads. In the ops around the experts, these axes may also split
  /// the dims in this table:
  ///
  ///   do ranks along the axis
  ///   have different experts?   `movesTokens`   dims
  ///   yes                       true            all dims
  ///   yes                       false           the dim that counts experts
  ///   no                        true            all dims except the dim that
  ///                                             counts experts
  ///   no                        false           no dim
  ///
  /// In the third line of the table, there is an exception: in a
  /// `graph.get_parameter`, which reads a weight, the axis may split no dim of
  /// the table.
  ///
  /// `movesTokens` has no effect on other axes. It has no effect on any axis if
  /// each rank has all experts.
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

/// The choices of all vertices (ops, arguments and results) of a graph. A
/// choice is one way of splitting one vertex over the mesh axes that the search
/// decides about, together with its cost. In the search, each vertex is a
/// variable, and the choices of the vertex are the values of the variable
/// (AxisSearch.h).
class StrategySpace {
public:
  /// Computes the choices of each vertex of `graph`. A choice is a way of
  /// splitting the vertex.
  ///
  /// - `orders`: each element is a list of steps. One step decides how one mesh
  ///   axis, or some of its sub-axes, split the vertex. All lists assign the
  ///   same axes. Example: the first list assigns tp and then dp, and the
  ///   second list assigns dp and then tp. The order matters, because an axis
  ///   cannot split a dim that earlier axes have split completely. The function
  ///   computes the choices that result from each list. A vertex gets all of
  ///   these choices.
  /// - `before`: the mesh axes that earlier searches have assigned. No choice
  ///   changes the splits over these axes.
  /// - `seeds`: the shardings that the user requests.
  /// - `planner`: computes the cost of communication.
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
  /// A way of splitting one vertex of the graph. The search assigns one mesh
  /// axis after another. `op` says how the axes that have been assigned so far
  /// split the vertex. `penalty` is a cost for broken rules. A rule is, for
  /// example, that `tp` must split each large weight. If `op` breaks several
  /// rules, `penalty` is the sum of their costs.
  struct SearchState {
    ShardedOp op;
    double penalty = 0;
  };
  using States = llvm::SmallVector<SearchState, 0>;

  /// Adds `state`, a way of splitting an op, to `states`. If an equal way is in
  /// `states` already, keeps only the one with the smaller penalty.
  static void add(SearchState state, States &states);
  /// Adds one mesh axis, the axis of `assignment`, to all ways of splitting
  /// vertex `index` of the graph. Each element of `states` is one way of
  /// splitting the vertex over the mesh axes that have been assigned before.
  /// The function replaces each element by one or more new elements. A new
  /// element keeps the splits of the old element, and uses the new axis in one
  /// way that the rules allow.
  ///
  /// Example: the vertex is a weight. In the old element, the axis tp splits
  /// the columns. The new axis is x. Three new elements replace the old
  /// element:
  ///
  /// - x splits nothing
  /// - x splits the rows
  /// - x splits the columns: each rank has had some columns because of tp, and
  ///   x splits these columns
  ///
  /// `decided` lists the mesh axes that have been assigned. The function adds
  /// the axis of `assignment` to `decided`, unless the axis has the role
  /// Storage (ZeRO, FSDP).
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
  /// Lets the mesh axis of `assignment` split vertex `index` of the graph, if
  /// the vertex is one of two kinds:
  ///
  /// - an op of the optimizer update
  /// - a cast of a tensor that is stored divided
  ///
  /// The axis has the role Storage (ZeRO, FSDP). A tensor is stored divided if
  /// each rank along the axis stores only a part of it. The tensor can be a
  /// weight, a gradient or an optimizer state. The function is only for a
  /// vertex whose result is not stored divided.
  ///
  /// Each element of `states` is one way of splitting the vertex. The function
  /// does not change `states` if the vertex is of another kind, or if the user
  /// requests a sharding for it.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` of the graph may use `strategy` for the
  /// mesh axis of `assignment`. A strategy is a way of using the axis, for
  /// example to split one dim. The function returns true if `strategy` meets
  /// all of these rules:
  ///
  /// - The role of the axis allows the strategy (shard::mayTake). For example,
  ///   the axis `dp` may split only the batch.
  /// - With the option `--reproducible`, the strategy does not change the order
  ///   in which the samples of the batch are added (keepsOrder). This rule does
  ///   not apply to the axis `mb`.
  /// - If the vertex produces a tensor that is stored divided among ranks
  ///   (ZeRO, FSDP), the strategy does not make this tensor a partial sum. A
  ///   tensor is a partial sum if each rank has one addend, and the ranks have
  ///   not added the addends yet. This rule does not apply to the axes `mb` and
  ///   `tp`.
  /// - In a mixture-of-experts model whose experts are divided among ranks, the
  ///   rules for the ops around the experts allow the strategy
  ///   (mayTakeNearExperts).
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether vertex `index` of the graph may use `strategy` if the user
  /// gives the option `--reproducible`. A strategy is a way of using a mesh
  /// axis, for example to split one dim. `role` is the role of the axis. The
  /// option fixes the order in which the samples of the batch are added, so
  /// that the results have equal bits for any number of ranks. The option
  /// forbids two strategies:
  ///
  /// - The axis splits the batch dim, and the op adds the elements along the
  ///   batch dim. The function allows this if the compiler has rewritten the op
  ///   so that the order of its additions is fixed (mayDivideSum).
  /// - The op reads partial sums and returns partial sums. A tensor is a
  ///   partial sum if each rank has one addend, and the ranks have not added
  ///   the addends yet. The function allows this if the op does not change the
  ///   order of the additions (mayPassSum). A transpose does not change the
  ///   order.
  ///
  /// The function always returns true if the option is not given. It also
  /// returns true if `role` is Tensor, because such an axis does not split the
  /// batch.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether the mesh axis of `assignment` may split a dim of vertex
  /// `index` of the graph. `tag` says what the dim counts, for example samples,
  /// tokens or experts. The function is only for mixture-of-experts models
  /// whose experts are divided among ranks. The result is true in two cases:
  ///
  /// - The dim belongs to the role of the axis. `dp` and `mb` may split a dim
  ///   of samples. `cp` may split a dim of tokens or of attention heads.
  /// - The vertex is one of the ops around the experts, and the axis may split
  ///   further dims of these ops. If `assignment.movesTokens` is true, the axis
  ///   may split most dims of these ops. If `assignment.movesTokens` is false,
  ///   the axis may split only the dim that counts experts. It may do so only
  ///   if ranks along the axis have different experts.
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
  /// Returns whether the mesh axis of `assignment` must split a certain dim of
  /// vertex `index` of the graph. The axis decides which dim this is, and for
  /// which vertices the result is true:
  ///
  ///   mesh axis    dim                             vertices
  ///   `dp`, `mb`   the batch                       all
  ///   `cp`         the sequence, attention heads   vertices in the set `tokens`
  ///   any other    none                            none
  ///
  /// The set `tokens` (SequenceOps) contains each matmul and each attention,
  /// and nearly all ops that depend on their results. It does not contain an op
  /// that computes an attention mask only from positions: each rank may compute
  /// the whole mask.
  ///
  /// If the experts of a mixture-of-experts model are divided among ranks, the
  /// result is false for the ops around the experts. The result has no effect
  /// if the vertex does not have the dim.
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
