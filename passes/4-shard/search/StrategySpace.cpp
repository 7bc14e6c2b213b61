//===- StrategySpace.cpp - choices of each op for the next axes, priced ---===//

#include "passes/4-shard/search/StrategySpace.h"
#include "dialects/graph/FloatCasts.h"
#include "passes/4-shard/graph/InnerExchanges.h"
#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "passes/4-shard/policy/OrderedSums.h"

#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns the tag of the dim that a mesh axis for the parallelism `role` is
/// meant to split: Batch (samples) for data parallelism, Sequence (tokens) for
/// context parallelism, and None for any other role.
static FactorTag tagOfRole(AxisRole role) {
  switch (role) {
  case AxisRole::Sequence:
  case AxisRole::SequenceAndExperts:
  case AxisRole::SequenceOutsideExperts:
    return FactorTag::Sequence;
  case AxisRole::Batch:
  case AxisRole::BatchAndExperts:
  case AxisRole::BatchOutsideExperts:
    return FactorTag::Batch;
  default:
    return FactorTag::None;
  }
}

/// Returns whether a mesh axis for the parallelism `role`, such as context
/// parallelism, is meant to split a dim with the tag `tag`. For `cp`, this
/// includes attention heads.
static bool isTagOfRole(FactorTag tag, AxisRole role) {
  const FactorTag home = tagOfRole(role);
  return tag != FactorTag::None &&
         (tag == home ||
          (tag == FactorTag::Head && home == FactorTag::Sequence));
}

/// Returns whether `parts`, sub-axes of one mesh axis, belong to the microbatch
/// axis `mb`.
static bool isInTime(ArrayRef<dist::SubAxis> parts) {
  return parts.front().axis == dist::timeAxis;
}

/// Returns whether `a` and `b`, two ways of splitting one op, use all axes in
/// the same way.
static bool sameSplit(const ShardedOp &a, const ShardedOp &b) {
  return a.axes == b.axes && a.through == b.through &&
         a.throughOperand == b.throughOperand &&
         a.usesAllWindows == b.usesAllWindows;
}

StrategySpace::StrategySpace(const ShardedGraph &graph,
                             ArrayRef<std::vector<AxisAssignment>> orders,
                             const dist::SubAxes &before, const Seeds &seeds,
                             plan::ReshardPlanner &planner)
    : graph(graph), seeds(seeds), planner(planner), weights(graph),
      megatron(graph, weights), stored(graph), tokens(graph),
      batchOrder(graph, planner.mesh()),
      ordersSums(graph::isReproducible(graph.function)) {
  if (!orders.empty() &&
      llvm::any_of(orders.front(), [](const AxisAssignment &assignment) {
        return knowsExperts(assignment.role);
      }))
    experts.emplace(graph);
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    States all;
    for (ArrayRef<AxisAssignment> order : orders) {
      States states{{graph.ops[i], 0}};
      dist::SubAxes decided = before;
      for (const AxisAssignment &assignment : order)
        assign(i, assignment, decided, states);
      for (SearchState &state : states)
        add(std::move(state), all);
    }
    auto &own = choices.emplace_back();
    for (SearchState &state : all)
      own.push_back(choiceOf(i, std::move(state)));
  }
}

void StrategySpace::add(SearchState state, States &states) {
  auto same = llvm::find_if(states, [&](const SearchState &other) {
    return sameSplit(other.op, state.op);
  });
  if (same == states.end())
    states.push_back(std::move(state));
  else
    same->penalty = std::min(same->penalty, state.penalty);
}

void StrategySpace::assign(unsigned index, const AxisAssignment &assignment,
                           dist::SubAxes &decided, States &states) const {
  if (assignment.role == AxisRole::Storage)
    return divideStored(index, assignment, states);
  ArrayRef<dist::SubAxis> parts(assignment.parts);
  // `decided` has one sub-axis for each mesh axis that is assigned completely
  // or in part. Replace the sub-axis of this mesh axis by one that includes
  // `parts`. Example: tp=4 is assigned in two steps of size 2. Its sub-axis
  // then has the size 2 after the first step, and 4 after the second.
  llvm::erase_if(decided, [&](const dist::SubAxis &axis) {
    return axis.axis == parts.front().axis;
  });
  decided.push_back({parts.front().axis, 1, parts.back().end()});
  const Seed *seed = graph.seedOf(index);
  const bool mustSplit = mustSplitRoleDim(index, assignment);
  const bool mustSplitInput = assignment.role == AxisRole::Batch &&
                              mustSplitBatch(index, parts.front());
  States next;
  for (const SearchState &state : states) {
    auto may = [&](const Strategy &strategy) {
      return mayTake(index, strategy, assignment);
    };
    auto taken =
        seed ? pinnedCandidatesOf(state.op, parts, seed->sharding, decided, may)
             : candidatesOf(state.op, parts, seeds, may, assignment.mixesDims);
    llvm::erase_if(taken, [&](const ShardedOp &op) {
      return !batchOrder.isKept(index, op);
    });
    addBeforeSequenceAxes(index, assignment, taken);
    // An axis such as `dp` is meant to split one dim, such as the batch.
    // split[i] is the number of sub-axes of the axis that split this dim in
    // candidate taken[i]. `most` is the largest of these numbers. A candidate
    // with a smaller number gets a penalty.
    SmallVector<int> split(taken.size());
    if (mustSplit || mustSplitInput)
      llvm::transform(taken, split.begin(), [&](const ShardedOp &op) {
        return numRoleParts(index, op, assignment);
      });
    const int most = split.empty() ? 0 : *llvm::max_element(split);
    for (auto [op, own] : llvm::zip_equal(taken, split)) {
      double penalty =
          state.penalty +
          penaltyOf(index, state.op, op, parts.front(), assignment.role);
      if (mustSplitInput && (own == 0 || own < most))
        penalty += brokenRulePenalty;
      if (mustSplit)
        penalty += most - own;
      add({std::move(op), penalty}, next);
    }
  }
  states = std::move(next);
}

/// Keeps only the candidate splits `ops` with the fewest bytes per rank.
/// Otherwise the search might choose a padded split that needs more memory,
/// because it compares received bytes before memory.
static void keepSmallest(SmallVector<ShardedOp, 0> &ops,
                         RankedTensorType type) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const ShardedOp &op : ops)
    least = std::min(least, localBytes(type, op.resultSharding(0)));
  llvm::erase_if(ops, [&](const ShardedOp &op) {
    return localBytes(type, op.resultSharding(0)) > least;
  });
}

/// Returns the sub-axes in `parts` that `op` does not use. An unused sub-axis
/// splits no loop dim of `op`, and no operand is a partial sum along it.
static dist::SubAxes unusedParts(const ShardedOp &op, dist::SubAxes parts) {
  llvm::erase_if(parts, [&](const dist::SubAxis &part) {
    return llvm::is_contained(op.through, part) ||
           llvm::any_of(op.axes, [&](const dist::SubAxes &axes) {
             return llvm::is_contained(axes, part);
           });
  });
  return parts;
}

void StrategySpace::divideStored(unsigned index,
                                 const AxisAssignment &assignment,
                                 States &states) const {
  if (!stored.contains(index))
    return followStored(index, assignment, states);
  States next;
  for (SearchState &state : states) {
    const dist::SubAxes parts = unusedParts(state.op, assignment.parts);
    SmallVector<ShardedOp, 0> divided;
    if (!parts.empty())
      divided = candidatesOf(state.op, parts, seeds, [](const Strategy &s) {
        return s.kind == Strategy::Split;
      });
    keepSmallest(divided, graph::tensorType(graph.valueOf(index, 0)));
    if (divided.empty())
      add(state, next);
    for (ShardedOp &op : divided)
      add({std::move(op), state.penalty}, next);
  }
  states = std::move(next);
}

/// Returns whether node `index` casts a tensor that is stored divided among
/// ranks (ZeRO, FSDP). If each rank casts its own shard from float32 to
/// bfloat16, an all-gather of the shards moves half as many bytes.
static bool castsStored(const ShardedGraph &graph, const StoredWeights &stored,
                        unsigned index) {
  return isa_and_present<graph::CastOp>(graph.ops[index].op) &&
         stored.contains(graph.operands[index][0].producer);
}

void StrategySpace::followStored(unsigned index,
                                 const AxisAssignment &assignment,
                                 States &states) const {
  const bool follows =
      graph.runsOncePerStep(index) || castsStored(graph, stored, index);
  if (!follows || graph.seedOf(index))
    return;
  auto may = [&](const Strategy &strategy) {
    return shard::mayTake(graph, index, strategy, assignment.role) &&
           keepsOrder(index, strategy, assignment.role);
  };
  States next;
  for (const SearchState &state : states)
    if (dist::SubAxes parts = unusedParts(state.op, assignment.parts);
        parts.empty())
      add(state, next);
    else
      for (ShardedOp &op : candidatesOf(state.op, parts, seeds, may))
        add({std::move(op), state.penalty}, next);
  states = std::move(next);
}

void StrategySpace::addBeforeSequenceAxes(
    unsigned index, const AxisAssignment &assignment,
    SmallVectorImpl<ShardedOp> &candidates) const {
  auto isSequenceAxis = [](const dist::SubAxis &axis) {
    return tagOfRole(roleOf(axis.axis)) == FactorTag::Sequence;
  };
  if (tagOfRole(assignment.role) == FactorTag::Sequence || graph.seedOf(index))
    return;
  for (size_t i = 0, count = candidates.size(); i < count; ++i)
    for (auto [factor, tag] : llvm::enumerate(graph.tags[index])) {
      const dist::SubAxes &axes = candidates[i].axes[factor];
      if (tag != FactorTag::Head ||
          !llvm::is_contained(axes, assignment.parts.front()) ||
          llvm::none_of(axes, isSequenceAxis))
        continue;
      ShardedOp other(candidates[i]);
      llvm::stable_sort(other.axes[factor], [&](const auto &a, const auto &b) {
        return !isSequenceAxis(a) && isSequenceAxis(b);
      });
      candidates.push_back(std::move(other));
    }
}

/// Returns true in two cases:
///
/// - The axis is meant to split dims with the tag `tag` in every op
///   (isTagOfRole), such as the batch for dp.
/// - The node is one of the ops around divided experts (ExpertRegion), and the
///   table at AxisAssignment::movesTokens lists the dim for this axis.
bool StrategySpace::mayTakeNearExperts(unsigned index, FactorTag tag,
                                       const AxisAssignment &assignment) const {
  if (isTagOfRole(tag, assignment.role))
    return true;
  if (!experts->contains(index))
    return false;
  if (dividesExperts(assignment.role))
    return assignment.movesTokens || tag == FactorTag::Expert;
  bool isWeight = isa_and_nonnull<graph::GetParameterOp>(graph.ops[index].op);
  return assignment.movesTokens && tag != FactorTag::Expert && !isWeight;
}

bool StrategySpace::mustSplitRoleDim(unsigned index,
                                     const AxisAssignment &assignment) const {
  if (knowsExperts(assignment.role) && experts->contains(index))
    return false;
  const FactorTag home = tagOfRole(assignment.role);
  return home == FactorTag::Batch ||
         (home == FactorTag::Sequence && tokens.contains(index));
}

int StrategySpace::numRoleParts(unsigned index, const ShardedOp &op,
                                const AxisAssignment &assignment) const {
  const auto splits = [&, tags = ArrayRef(graph.tags[index])](
                          const dist::SubAxis &part) {
    return llvm::any_of(llvm::zip_equal(tags, op.axes), [&](const auto &entry) {
      const auto &[tag, axes] = entry;
      return isTagOfRole(tag, assignment.role) &&
             llvm::is_contained(axes, part);
    });
  };
  const ArrayRef<dist::SubAxis> parts(assignment.parts);
  return static_cast<int>(
      llvm::count_if(ordersSums ? parts : parts.take_front(), splits));
}

bool StrategySpace::keepsOrder(unsigned index, const Strategy &strategy,
                               AxisRole role) const {
  const ShardedOp &op = graph.ops[index];
  if (!ordersSums || role == AxisRole::Tensor)
    return true;
  if (strategy.kind == Strategy::Through)
    return mayPassSum(op.op);
  return strategy.kind != Strategy::Split ||
         graph.tags[index][strategy.index] != FactorTag::Batch ||
         op.rule->factors[strategy.index].kind != graph::FactorKind::Sum ||
         mayDivideSum(op.op);
}

bool StrategySpace::mayTake(unsigned index, const Strategy &strategy,
                            const AxisAssignment &assignment) const {
  const bool inTime = isInTime(assignment.parts);
  if (!shard::mayTake(graph, index, strategy, assignment.role, inTime))
    return false;
  if (!inTime && !keepsOrder(index, strategy, assignment.role))
    return false;
  // A tensor that is stored divided among ranks (ZeRO, FSDP) must not be a
  // partial sum, except along `mb` and `tp`.
  if (strategy.kind == Strategy::Through && !inTime &&
      assignment.role != AxisRole::Tensor && stored.contains(index))
    return false;
  return strategy.kind != Strategy::Split || !knowsExperts(assignment.role) ||
         mayTakeNearExperts(index, graph.tags[index][strategy.index],
                            assignment);
}

bool pcc::shard::mayCutInTime(const ShardedGraph &graph,
                              graph::FactorKind kind) {
  return kind == graph::FactorKind::Parallel ||
         (kind == graph::FactorKind::Sum && graph.isTraining());
}

/// Returns whether `op` is a transfer, which sends a value to another stage.
static bool isTransfer(const ShardedOp &op) {
  return op.op && !isa<graph::ShardingRuleOpInterface>(op.op);
}

/// Returns whether `op` is a cast of floats that may change a number.
static bool rounds(const ShardedOp &op) {
  auto narrow = dyn_cast_or_null<graph::CastOp>(op.op);
  if (!narrow)
    return false;
  const auto typeOf = [](Value value) {
    return cast<FloatType>(graph::tensorType(value).getElementType());
  };
  return !graph::representsAll(typeOf(narrow.getResult()),
                               typeOf(narrow.getInput()));
}

bool pcc::shard::mayTake(const ShardedGraph &graph, unsigned index,
                         const Strategy &strategy, AxisRole role, bool inTime) {
  const ShardedOp &op = graph.ops[index];
  if (strategy.kind == Strategy::Through)
    // With the strategy Through, the op reads a partial sum, and its result is
    // a partial sum. Along the microbatch axis `mb`, the op must accept a sum
    // over one microbatch in place of the whole batch. Along other axes, no sum
    // is rounded before it is complete, and a transfer to another pipeline
    // stage may pass on a partial sum only along a data-parallel axis, or in
    // the optimizer update.
    return inTime
               ? graph.readsSumsInTime(index)
               : !rounds(op) && (!isTransfer(op) || role == AxisRole::Batch ||
                                 graph.runsOncePerStep(index));
  if (strategy.kind == Strategy::Replicate)
    return true;
  if (strategy.kind == Strategy::Ring)
    return tagOfRole(role) == FactorTag::Sequence &&
           graph.tags[index][strategy.index] == FactorTag::Sequence;
  if (inTime && (seesWholeBatch(op.op) ||
                 !mayCutInTime(graph, op.rule->factors[strategy.index].kind)))
    return false;
  FactorTag tag = graph.tags[index][strategy.index];
  switch (role) {
  case AxisRole::Free:
    return true;
  case AxisRole::Batch:
    return tag == FactorTag::Batch;
  case AxisRole::Sequence:
    return isTagOfRole(tag, role);
  case AxisRole::Tensor:
    return tag != FactorTag::Batch && tag != FactorTag::Stripe;
  default:
    return true;
  }
}

double StrategySpace::penaltyOf(unsigned index, const ShardedOp &before,
                                const ShardedOp &after,
                                const dist::SubAxis &part,
                                AxisRole role) const {
  if (dividesExperts(role))
    return experts->undividedBytes(index, before, after, part);
  if (role != AxisRole::Tensor)
    return 0;
  const bool leavesWeight = weights.mustSplit(before, index, part) &&
                            !weights.splits(after, index, part);
  return (leavesWeight ? weights.bytes(index) : 0) +
         (megatron.isBroken(index, after, part) ? 1 : 0);
}

/// Returns false for two kinds of arguments that have a batch dim:
///
/// - If `part` belongs to the microbatch axis `mb`: arguments of which some op
///   reads the whole batch at once.
/// - If `part` belongs to another axis, such as `dp`: arguments whose sharding
///   the user set.
bool StrategySpace::mustSplitBatch(unsigned index,
                                   const dist::SubAxis &part) const {
  if (!graph.isArgument(index) || (graph.seedOf(index) && !isInTime(part)) ||
      (isInTime(part) &&
       isReadByWholeBatchOp(graph.function.getArgument(index))))
    return false;
  for (auto [tag, factor] :
       llvm::zip_equal(graph.tags[index], graph.ops[index].rule->factors))
    if (tag == FactorTag::Batch && factor.size > 1)
      return true;
  return false;
}

OpChoice StrategySpace::choiceOf(unsigned index, SearchState state) const {
  OpChoice choice{std::move(state.op), {}, {}, {}};
  const RefinedRule &rule = *choice.op.rule;
  choice.cost = innerCost(choice.op, planner);
  choice.cost.memory = workspaceBytes(choice.op);
  choice.cost.penalty = state.penalty;
  choice.cost.picoseconds += computePicoseconds(choice.op, planner);
  for (unsigned i = 0; i < rule.operands.size(); ++i)
    choice.operands.push_back(choice.op.operandSharding(i));
  for (unsigned i = 0; i < rule.results.size(); ++i) {
    choice.results.push_back(choice.op.resultSharding(i));
    choice.cost.memory += localBytes(graph::tensorType(graph.valueOf(index, i)),
                                     choice.results.back());
  }
  return choice;
}

double StrategySpace::numPairs(const ShardedGraph &graph,
                               ArrayRef<AxisAssignment> assignments) {
  std::vector<double> counts;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    double count = 1;
    for (const AxisAssignment &assignment : assignments)
      if (assignment.role != AxisRole::Storage)
        count *= llvm::count_if(
            strategiesOf(graph.ops[i]), [&](const Strategy &strategy) {
              return strategy.kind != Strategy::Ring ||
                     shard::mayTake(graph, i, strategy, assignment.role);
            });
    counts.push_back(graph.seedOf(i) ? 1 : count);
  }
  double pairs = 0;
  for (const auto &edges : graph.operands)
    for (const ShardedGraph::OperandEdge &edge : edges)
      pairs += counts[edge.producer] * counts[edge.user];
  return pairs;
}
