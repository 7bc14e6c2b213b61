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
  /// Selects which dims `dp`, `mb` or `cp` may also split in the ops around the
  /// experts (ExpertDims.h). It has no effect if each rank has all experts.
  ///
  ///   experts along the axis   movesTokens   further dims
  ///   different                true          all
  ///   different                false         the expert dim
  ///   equal                    true          all but the expert dim; none of a
  ///                                          `graph.get_parameter`
  ///   equal                    false         none
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
  /// Computes the choices of each vertex of `graph`. Each element of `orders`
  /// is a list of steps, and all lists assign the same axes. The order of the
  /// steps matters, because an axis cannot split a dim that earlier axes have
  /// split completely. Each vertex gets the choices of all lists. No choice
  /// changes the splits over the axes in `before`. `seeds` has the requested
  /// shardings, and `planner` computes the cost of communication. `graph`,
  /// `seeds` and `planner` must outlive this object.
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
  /// Replaces each element of `states` by its splits over one more mesh axis,
  /// the axis of `assignment`. `states` has the ways of splitting vertex
  /// `index`, and the new elements keep these splits. Example: the vertex is a
  /// weight, and tp splits its columns. An axis x then gives three elements: x
  /// splits nothing, the rows, or the columns of each rank. Also adds the axis
  /// to `decided`, unless its role is Storage (ZeRO, FSDP).
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
  /// Lets an axis with the role Storage (ZeRO, FSDP) split an op of the
  /// optimizer update, or a cast of a tensor that is stored divided among
  /// ranks. Changes each way of splitting in `states`. For any other vertex, or
  /// if the user requests a sharding of the vertex, does nothing. The result of
  /// vertex `index` must not be stored divided.
  void followStored(unsigned index, const AxisAssignment &assignment,
                    States &states) const;
  /// Returns whether vertex `index` may use `strategy` for the axis of
  /// `assignment`. These rules must all allow it:
  ///
  /// - the role of the axis (shard::mayTake)
  /// - `--reproducible`, except for `mb` (keepsOrder)
  /// - A tensor that is stored divided (ZeRO, FSDP) must not be a partial sum,
  ///   that is, one addend per rank; except over `mb` and `tp`.
  /// - divided experts (mayTakeNearExperts)
  bool mayTake(unsigned index, const Strategy &strategy,
               const AxisAssignment &assignment) const;
  /// Returns whether `strategy` is allowed with the option `--reproducible`,
  /// which fixes the order of sums over the batch. `role` is the role of the
  /// axis. The option forbids two strategies:
  ///
  /// - The axis splits the batch dim over which the op sums, and mayDivideSum()
  ///   is false for the op.
  /// - The op passes on a partial sum (one addend per rank), and mayPassSum()
  ///   is false for the op.
  bool keepsOrder(unsigned index, const Strategy &strategy,
                  AxisRole role) const;
  /// Returns whether the axis of `assignment` may split a dim of vertex `index`
  /// that counts `tag`, such as experts. Valid only if the experts are divided
  /// among ranks: the role of the axis must be BatchAndExperts,
  /// BatchOutsideExperts, SequenceAndExperts or SequenceOutsideExperts.
  /// AxisAssignment::movesTokens lists the dims that such an axis may split
  /// around the experts.
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
  /// Returns whether the mesh axis of `assignment` must split its dim in vertex
  /// `index`, if the vertex has this dim:
  ///
  ///   mesh axis    dim                             vertices
  ///   `dp`, `mb`   the batch                       all
  ///   `cp`         the sequence, attention heads   all in SequenceOps
  ///
  /// If experts are divided among ranks, returns false for the ops around them.
  bool mustSplitRoleDim(unsigned index, const AxisAssignment &assignment) const;
  /// Counts the sub-axes in `assignment.parts` that split the dims of their
  /// axis in `op`, which is one way of splitting vertex `index`. These dims are
  /// the batch for `dp` and `mb`, and the sequence and the attention heads for
  /// `cp`. Returns 0 for any other axis. Without `--reproducible`, looks only
  /// at the first sub-axis.
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
