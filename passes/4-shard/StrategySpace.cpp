//===- StrategySpace.cpp - what axes may do to each op, and its price -----===//

#include "passes/4-shard/StrategySpace.h"
#include "passes/4-shard/InnerValues.h"
#include "passes/4-shard/Pricing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

AxisRole pcc::shard::roleOf(StringRef axis) {
  return llvm::StringSwitch<AxisRole>(axis)
      .Cases({"mb", "dp"}, AxisRole::Batch)
      .Case("cp", AxisRole::Sequence)
      .Case("tp", AxisRole::Tensor)
      .Default(AxisRole::Free);
}

static bool isInTime(ArrayRef<dist::SubAxis> parts) {
  return parts.front().axis == dist::timeAxis;
}

static bool sameSplit(const ShardedOp &a, const ShardedOp &b) {
  return a.axes == b.axes && a.through == b.through &&
         a.throughOperand == b.throughOperand && a.seesThrough == b.seesThrough;
}

static int64_t elementBytes(RankedTensorType type) {
  return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

double StrategySpace::localBytes(RankedTensorType type,
                                 const dist::Sharding &sharding) {
  return static_cast<double>(dist::numElements(
             dist::localShape(sharding, dist::shapeOf(type.getShape())))) *
         elementBytes(type);
}

StrategySpace::StrategySpace(const ShardedGraph &graph,
                             ArrayRef<std::vector<Hand>> orders,
                             const dist::SubAxes &before, const Seeds &seeds,
                             plan::ReshardPlanner &planner)
    : graph(graph), seeds(seeds), planner(planner), weights(graph) {
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
  ArrayRef<dist::SubAxis> parts(hand.parts);
  llvm::erase_if(decided, [&](const dist::SubAxis &axis) {
    return axis.axis == parts.front().axis;
  });
  decided.push_back({parts.front().axis, 1, parts.back().end()});
  const Seed *seed = graph.seedOf(index);
  States next;
  for (const State &state : states) {
    auto may = [&](const Strategy &strategy) {
      return mayTake(index, strategy, hand.role, isInTime(parts));
    };
    auto taken =
        seed ? pinnedCandidatesOf(state.op, parts, seed->sharding, decided, may)
             : candidatesOf(state.op, parts, seeds, may);
    for (ShardedOp &op : taken) {
      double penalty = state.penalty +
                       penaltyOf(index, state.op, op, parts.front(), hand.role);
      add({std::move(op), penalty}, next);
    }
  }
  states = std::move(next);
}

static bool isTransfer(const ShardedOp &op) {
  return op.op && !isa<graph::ShardingRuleOpInterface>(op.op);
}

bool StrategySpace::mayTake(unsigned index, const Strategy &strategy,
                            AxisRole role, bool inTime) const {
  const ShardedOp &op = graph.ops[index];
  if (strategy.kind == Strategy::Through)
    return !inTime && !isTransfer(op);
  if (strategy.kind == Strategy::Replicate)
    return true;
  graph::FactorKind kind = op.rule->factors[strategy.index].kind;
  if (inTime && kind != graph::FactorKind::Parallel)
    return false;
  Tag tag = graph.tags[index][strategy.index];
  switch (role) {
  case AxisRole::Free:
    return true;
  case AxisRole::Batch:
    return tag == Tag::Batch;
  case AxisRole::Sequence:
    return tag == Tag::Sequence;
  case AxisRole::Tensor:
    return tag != Tag::Batch;
  }
  return false;
}

double StrategySpace::penaltyOf(unsigned index, const ShardedOp &before,
                                const ShardedOp &after,
                                const dist::SubAxis &part,
                                AxisRole role) const {
  if (role == AxisRole::Batch && leavesBatchWhole(index, after, part))
    return brokenRule;
  bool leavesWeight = role == AxisRole::Tensor &&
                      weights.mustSplit(before, index, part) &&
                      !weights.splits(after, index, part);
  return leavesWeight ? weights.bytes(index) : 0;
}

/// An input whose batch the axis does not split although it could.
bool StrategySpace::leavesBatchWhole(unsigned index, const ShardedOp &op,
                                     const dist::SubAxis &part) const {
  if (!graph.isArgument(index) || (graph.seedOf(index) && !isInTime(part)))
    return false;
  for (auto [tag, axes, factor] :
       llvm::zip_equal(graph.tags[index], op.axes, op.rule->factors))
    if (tag == Tag::Batch && factor.size > 1)
      return !llvm::is_contained(axes, part);
  return false;
}

Choice StrategySpace::choiceOf(unsigned index, State state) const {
  Choice choice{std::move(state.op), {}, {}, {}};
  const RefinedRule &rule = *choice.op.rule;
  choice.cost = innerCost(choice.op, planner);
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

plan::Cost StrategySpace::priceOf(const dist::Sharding &from,
                                  const dist::Sharding &to,
                                  RankedTensorType type) const {
  const plan::ReshardPlan &plan = planner.plan(
      from, to, dist::shapeOf(type.getShape()), elementBytes(type));
  plan::Cost cost = costOf(plan, planner);
  if (!plan.possible())
    cost.penalty = brokenRule;
  return cost;
}

double StrategySpace::numPairs(const ShardedGraph &graph,
                               ArrayRef<Hand> hands) {
  std::vector<double> counts;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    double count = 1;
    for (const Hand &hand : hands)
      count *= strategiesOf(graph.ops[i], hand.parts.front()).size();
    counts.push_back(graph.seedOf(i) ? 1 : count);
  }
  double pairs = 0;
  for (const auto &edges : graph.operands)
    for (const ShardedGraph::Edge &edge : edges)
      pairs += counts[edge.producer] * counts[edge.user];
  return pairs;
}
