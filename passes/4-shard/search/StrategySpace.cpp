//===- StrategySpace.cpp - what axes may do to each op, and its price -----===//

#include "passes/4-shard/search/StrategySpace.h"
#include "passes/4-shard/graph/InnerValues.h"
#include "passes/4-shard/graph/StepInputs.h"
#include "passes/4-shard/policy/OrderedSums.h"

#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// What an axis has to split, but for experts; none where it has a choice.
static Tag homeOf(AxisRole role) {
  switch (role) {
  case AxisRole::Sequence:
  case AxisRole::SequenceAndExperts:
  case AxisRole::SequenceOutsideExperts:
    return Tag::Sequence;
  case AxisRole::Batch:
  case AxisRole::BatchAndExperts:
  case AxisRole::BatchOutsideExperts:
    return Tag::Batch;
  default:
    return Tag::None;
  }
}

/// Whether an axis of `role` splits what it is for where it splits `tag`:
/// within attention, heads are as good as tokens.
static bool isHome(Tag tag, AxisRole role) {
  const Tag home = homeOf(role);
  return tag != Tag::None &&
         (tag == home || (tag == Tag::Head && home == Tag::Sequence));
}

static bool isInTime(ArrayRef<dist::SubAxis> parts) {
  return parts.front().axis == dist::timeAxis;
}

static bool sameSplit(const ShardedOp &a, const ShardedOp &b) {
  return a.axes == b.axes && a.through == b.through &&
         a.throughOperand == b.throughOperand && a.seesThrough == b.seesThrough;
}

StrategySpace::StrategySpace(const ShardedGraph &graph,
                             ArrayRef<std::vector<Hand>> orders,
                             const dist::SubAxes &before, const Seeds &seeds,
                             plan::ReshardPlanner &planner)
    : graph(graph), seeds(seeds), planner(planner), weights(graph),
      megatron(graph, weights), stored(graph), tokens(graph),
      ordersSums(graph::isReproducible(graph.function)) {
  if (!orders.empty() && llvm::any_of(orders.front(), [](const Hand &hand) {
        return knowsExperts(hand.role);
      }))
    experts.emplace(graph);
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    States all;
    for (ArrayRef<Hand> order : orders) {
      States states{{graph.ops[i], 0}};
      dist::SubAxes decided = before;
      for (const Hand &hand : order)
        handOut(i, hand, decided, states);
      for (State &state : states)
        add(std::move(state), all);
    }
    auto &own = choices.emplace_back();
    for (State &state : all)
      own.push_back(choiceOf(i, std::move(state)));
  }
}

/// Adds what is new; of two ways to one split the one that breaks fewer rules
/// counts.
void StrategySpace::add(State state, States &states) {
  auto same = llvm::find_if(states, [&](const State &other) {
    return sameSplit(other.op, state.op);
  });
  if (same == states.end())
    states.push_back(std::move(state));
  else
    same->penalty = std::min(same->penalty, state.penalty);
}

void StrategySpace::handOut(unsigned index, const Hand &hand,
                            dist::SubAxes &decided, States &states) const {
  if (hand.role == AxisRole::Storage)
    return divideStored(index, hand, states);
  ArrayRef<dist::SubAxis> parts(hand.parts);
  // Parts of the axis may have come before.
  llvm::erase_if(decided, [&](const dist::SubAxis &axis) {
    return axis.axis == parts.front().axis;
  });
  decided.push_back({parts.front().axis, 1, parts.back().end()});
  const Seed *seed = graph.seedOf(index);
  States next;
  for (const State &state : states) {
    auto may = [&](const Strategy &strategy) {
      return mayTake(index, strategy, hand);
    };
    auto taken =
        seed ? pinnedCandidatesOf(state.op, parts, seed->sharding, decided, may)
             : candidatesOf(state.op, parts, seeds, may, hand.mixesDims);
    addBeforeVisitors(index, hand, taken);
    const bool mustSplit =
        hasHome(index, hand) && llvm::any_of(taken, [&](const ShardedOp &op) {
          return splitsHome(index, op, hand);
        });
    for (ShardedOp &op : taken) {
      double penalty = state.penalty +
                       penaltyOf(index, state.op, op, parts.front(), hand.role);
      if (mustSplit && !splitsHome(index, op, hand))
        ++penalty;
      add({std::move(op), penalty}, next);
    }
  }
  states = std::move(next);
}

/// Keeps those of which a rank stores least: an uneven part is received with
/// fewer bytes, but is no smaller for it.
static void keepSmallest(SmallVector<ShardedOp, 0> &ops,
                         RankedTensorType type) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const ShardedOp &op : ops)
    least = std::min(least, localBytes(type, op.resultSharding(0)));
  llvm::erase_if(ops, [&](const ShardedOp &op) {
    return localBytes(type, op.resultSharding(0)) > least;
  });
}

/// Where the parts can divide a weight that is to be divided, they must.
void StrategySpace::divideStored(unsigned index, const Hand &hand,
                                 States &states) const {
  if (!stored.contains(index))
    return followStored(index, hand, states);
  States next;
  for (State &state : states) {
    dist::SubAxes parts = hand.parts;
    llvm::erase_if(parts, [&](const dist::SubAxis &part) {
      return llvm::any_of(state.op.axes, [&](const dist::SubAxes &axes) {
        return llvm::is_contained(axes, part);
      });
    });
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

/// Whether an op makes another type of what is stored in parts: cast in parts,
/// it may be what is gathered.
static bool castsStored(const ShardedGraph &graph, const StoredWeights &stored,
                        unsigned index) {
  return isa_and_present<graph::CastOp>(graph.ops[index].op) &&
         stored.contains(graph.operands[index][0].producer);
}

/// An update may be of a part of what is stored in parts, which the gradients
/// are reduced to. So may a cast.
void StrategySpace::followStored(unsigned index, const Hand &hand,
                                 States &states) const {
  const bool follows =
      graph.runsOncePerStep(index) || castsStored(graph, stored, index);
  if (!follows || graph.seedOf(index))
    return;
  const dist::SubAxis &part = hand.parts.front();
  auto may = [&](const Strategy &strategy) {
    return shard::mayTake(graph, index, strategy, hand.role) &&
           keepsOrder(index, strategy, hand.role);
  };
  States next;
  for (const State &state : states)
    if (llvm::is_contained(state.op.through, part) ||
        llvm::any_of(state.op.axes, [&](const dist::SubAxes &axes) {
          return llvm::is_contained(axes, part);
        }))
      add(state, next);
    else
      for (ShardedOp &op : candidatesOf(state.op, hand.parts, seeds, may))
        add({std::move(op), state.penalty}, next);
  states = std::move(next);
}

/// Heads that an axis of the sequence has taken are of tokens that it divides
/// before and after: another axis is offered the place in front of it, where it
/// keeps its heads all the way.
///
///   [32@cp, 8@tp] to [-, 8@cp+tp]:   moves over both
///   [32@cp, 8@tp] to [-, 8@tp+cp]:   an all-to-all over cp
void StrategySpace::addBeforeVisitors(
    unsigned index, const Hand &hand,
    SmallVectorImpl<ShardedOp> &candidates) const {
  auto isVisitor = [](const dist::SubAxis &axis) {
    return homeOf(roleOf(axis.axis)) == Tag::Sequence;
  };
  if (homeOf(hand.role) == Tag::Sequence || graph.seedOf(index))
    return;
  for (size_t i = 0, count = candidates.size(); i < count; ++i)
    for (auto [factor, tag] : llvm::enumerate(graph.tags[index])) {
      const dist::SubAxes &axes = candidates[i].axes[factor];
      if (tag != Tag::Head || !llvm::is_contained(axes, hand.parts.front()) ||
          llvm::none_of(axes, isVisitor))
        continue;
      ShardedOp other(candidates[i]);
      llvm::stable_sort(other.axes[factor], [&](const auto &a, const auto &b) {
        return !isVisitor(a) && isVisitor(b);
      });
      candidates.push_back(std::move(other));
    }
}

bool StrategySpace::mayTakeNearExperts(unsigned index, Tag tag,
                                       const Hand &hand) const {
  if (isHome(tag, hand.role))
    return true;
  if (!experts->contains(index))
    return false;
  if (dividesExperts(hand.role))
    return hand.movesTokens || tag == Tag::Expert;
  bool isWeight = isa_and_nonnull<graph::GetParameterOp>(graph.ops[index].op);
  return hand.movesTokens && tag != Tag::Expert && !isWeight;
}

/// Whether the axis has to split what it is for in op `index`, if it can.
bool StrategySpace::hasHome(unsigned index, const Hand &hand) const {
  if (knowsExperts(hand.role) && experts->contains(index))
    return false;
  const Tag home = homeOf(hand.role);
  return home == Tag::Batch ||
         (home == Tag::Sequence && tokens.contains(index));
}

/// Whether the axis splits what it is for in `op`.
bool StrategySpace::splitsHome(unsigned index, const ShardedOp &op,
                               const Hand &hand) const {
  for (auto [tag, axes] : llvm::zip_equal(graph.tags[index], op.axes))
    if (isHome(tag, hand.role) && llvm::is_contained(axes, hand.parts.front()))
      return true;
  return false;
}

/// Whether sums over the batch stay in their order, if they have one.
bool StrategySpace::keepsOrder(unsigned index, const Strategy &strategy,
                               AxisRole role) const {
  const ShardedOp &op = graph.ops[index];
  if (!ordersSums || role == AxisRole::Tensor)
    return true;
  if (strategy.kind == Strategy::Through)
    return mayPassSum(op.op);
  return strategy.kind != Strategy::Split ||
         graph.tags[index][strategy.index] != Tag::Batch ||
         op.rule->factors[strategy.index].kind != graph::FactorKind::Sum ||
         mayDivideSum(op.op);
}

bool StrategySpace::mayTake(unsigned index, const Strategy &strategy,
                            const Hand &hand) const {
  const bool inTime = isInTime(hand.parts);
  if (!shard::mayTake(graph, index, strategy, hand.role, inTime))
    return false;
  if (!inTime && !keepsOrder(index, strategy, hand.role))
    return false;
  // Sums over an axis end before what they give is stored in parts.
  if (strategy.kind == Strategy::Through && !inTime &&
      hand.role != AxisRole::Tensor && stored.contains(index))
    return false;
  return strategy.kind != Strategy::Split || !knowsExperts(hand.role) ||
         mayTakeNearExperts(index, graph.tags[index][strategy.index], hand);
}

bool pcc::shard::mayCutInTime(const ShardedGraph &graph,
                              graph::FactorKind kind) {
  return kind == graph::FactorKind::Parallel ||
         (kind == graph::FactorKind::Sum && graph.isTraining());
}

static bool isTransfer(const ShardedOp &op) {
  return op.op && !isa<graph::ShardingRuleOpInterface>(op.op);
}

bool pcc::shard::mayTake(const ShardedGraph &graph, unsigned index,
                         const Strategy &strategy, AxisRole role, bool inTime) {
  const ShardedOp &op = graph.ops[index];
  if (strategy.kind == Strategy::Through)
    // Sums over samples may be sent as they are, so that they end where they
    // would without stages. Others end before, unless they are of an update.
    return inTime ? graph.readsSumsInTime(index)
                  : !isTransfer(op) || role == AxisRole::Batch ||
                        graph.runsOncePerStep(index);
  if (strategy.kind == Strategy::Replicate)
    return true;
  if (strategy.kind == Strategy::Ring)
    return homeOf(role) == Tag::Sequence &&
           graph.tags[index][strategy.index] == Tag::Sequence;
  if (inTime && (isOncePerStep(op.op) ||
                 !mayCutInTime(graph, op.rule->factors[strategy.index].kind)))
    return false;
  Tag tag = graph.tags[index][strategy.index];
  switch (role) {
  case AxisRole::Free:
    return true;
  case AxisRole::Batch:
    return tag == Tag::Batch;
  case AxisRole::Sequence:
    return isHome(tag, role);
  case AxisRole::Tensor:
    return tag != Tag::Batch && tag != Tag::Stripe;
  default:
    return true;
  }
}

double StrategySpace::penaltyOf(unsigned index, const ShardedOp &before,
                                const ShardedOp &after,
                                const dist::SubAxis &part,
                                AxisRole role) const {
  if (role == AxisRole::Batch && leavesBatchWhole(index, after, part))
    return brokenRule;
  if (dividesExperts(role))
    return experts->undividedBytes(index, before, after, part);
  if (role != AxisRole::Tensor)
    return 0;
  const bool leavesWeight = weights.mustSplit(before, index, part) &&
                            !weights.splits(after, index, part);
  return (leavesWeight ? weights.bytes(index) : 0) +
         (megatron.isBroken(index, after, part) ? 1 : 0);
}

/// An input whose batch the axis does not split although it could.
bool StrategySpace::leavesBatchWhole(unsigned index, const ShardedOp &op,
                                     const dist::SubAxis &part) const {
  if (!graph.isArgument(index) || (graph.seedOf(index) && !isInTime(part)) ||
      (isInTime(part) && isReadOncePerStep(graph.function.getArgument(index))))
    return false;
  bool hasBatch = false;
  for (auto [tag, axes, factor] :
       llvm::zip_equal(graph.tags[index], op.axes, op.rule->factors)) {
    if (tag == Tag::Batch && llvm::is_contained(axes, part))
      return false;
    hasBatch |= tag == Tag::Batch && factor.size > 1;
  }
  return hasBatch;
}

Choice StrategySpace::choiceOf(unsigned index, State state) const {
  Choice choice{std::move(state.op), {}, {}, {}};
  const RefinedRule &rule = *choice.op.rule;
  choice.cost = innerCost(choice.op, planner);
  choice.cost.memory = innerBytes(choice.op);
  choice.cost.penalty = state.penalty;
  choice.cost.seconds += computeSeconds(choice.op, planner);
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
                               ArrayRef<Hand> hands) {
  std::vector<double> counts;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    double count = 1;
    for (const Hand &hand : hands)
      if (hand.role != AxisRole::Storage)
        count *= llvm::count_if(strategiesOf(graph.ops[i], hand.parts.front()),
                                [&](const Strategy &strategy) {
                                  return strategy.kind != Strategy::Ring ||
                                         shard::mayTake(graph, i, strategy,
                                                        hand.role);
                                });
    counts.push_back(graph.seedOf(i) ? 1 : count);
  }
  double pairs = 0;
  for (const auto &edges : graph.operands)
    for (const ShardedGraph::Edge &edge : edges)
      pairs += counts[edge.producer] * counts[edge.user];
  return pairs;
}
