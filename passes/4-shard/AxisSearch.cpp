//===- AxisSearch.cpp - what one axis splits, at the least cost -----------===//
//
// A variable per op (value = strategy), an edge per use, priced as the reshard
// from what the producer gives to what the user takes. Solved exactly by
// variable elimination.
//
//===----------------------------------------------------------------------===//

#include "passes/4-shard/AxisSearch.h"
#include "dialects/dist/ShardingText.h"
#include "passes/4-shard/ContractionWeights.h"
#include "passes/4-shard/InnerValues.h"
#include "passes/plan/Eliminate.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Outweighs all bytes, but can be counted: a plan that has to break a rule is
/// found, and reported at the op that breaks it.
static constexpr double brokenRule = 1e15;

AxisRole pcc::shard::roleOf(StringRef axis) {
  return llvm::StringSwitch<AxisRole>(axis)
      .Cases({"mb", "dp"}, AxisRole::Batch)
      .Case("cp", AxisRole::Sequence)
      .Case("tp", AxisRole::Tensor)
      .Default(AxisRole::Free);
}

namespace {
/// One op's strategies with what they mean for its tensors.
struct Choices {
  std::vector<ShardedOp> candidates;
  SmallVector<SmallVector<dist::Sharding, 2>, 4>
      operands; ///< per candidate and operand
  SmallVector<SmallVector<dist::Sharding, 1>, 4>
      results; ///< per candidate and result
};

class AxisSearch {
public:
  /// `parts` are parts of one axis that are handed out together.
  AxisSearch(ShardedGraph &graph, ArrayRef<dist::SubAxis> parts,
             const dist::SubAxes &before, AxisRole role, const Seeds &seeds,
             plan::ReshardPlanner &planner)
      : graph(graph), parts(parts), role(role), seeds(seeds), planner(planner),
        weights(graph), inTime(parts.front().axis == dist::timeAxis),
        decided(before) {
    decided.push_back({parts.front().axis, 1, parts.back().end()});
  }

  /// Finds the cheapest choice; `choose` makes it.
  plan::Cost solve() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      addChoices(i);
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      for (unsigned result = 0; result < graph.users[i].size(); ++result)
        addValue(i, result);
    plan::Assignment best = plan::minimise(costs);
    LDBG() << "axis " << parts.front().axis << ": " << best.cost.bytes
           << " bytes, " << best.cost.calls << " calls, exact " << best.exact
           << ", largest table " << best.largestTable;
    chosen.assign(best.values.begin(), best.values.begin() + graph.ops.size());
    return best.cost;
  }

  void choose() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      graph.ops[i] = choices[i].candidates[chosen[i]];
  }

  /// Reports the first op at which the choice breaks a rule.
  LogicalResult reportBrokenRule() {
    if (inTime && failed(reportWholeBatch()))
      return failure();
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      for (const ShardedGraph::Edge &edge : graph.operands[i])
        if (failed(checkEdge(edge)))
          return failure();
    }
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Candidates
  //===--------------------------------------------------------------------===//

  void addChoices(unsigned index) {
    Choices &own = choices.emplace_back();
    std::vector<plan::Cost> unary;
    auto may = [&](const Strategy &strategy) {
      return mayTake(index, strategy);
    };
    const Seed *seed = graph.seedOf(index);
    auto candidates = seed ? pinnedCandidatesOf(graph.ops[index], parts,
                                                seed->sharding, decided, may)
                           : candidatesOf(graph.ops[index], parts, seeds, may);
    for (ShardedOp &candidate : candidates) {
      unary.push_back(costOf(index, candidate));
      auto &operands = own.operands.emplace_back();
      for (unsigned i = 0; i < candidate.rule->operands.size(); ++i)
        operands.push_back(candidate.operandSharding(i));
      auto &results = own.results.emplace_back();
      for (unsigned i = 0; i < candidate.rule->results.size(); ++i)
        results.push_back(candidate.resultSharding(i));
      own.candidates.push_back(std::move(candidate));
    }
    costs.addVariable(std::move(unary));
  }

  /// What the axis is for restricts the factors that it may split.
  bool mayTake(unsigned index, const Strategy &strategy) const {
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

  static bool isTransfer(const ShardedOp &op) {
    return op.op && !isa<graph::ShardingRuleOpInterface>(op.op);
  }

  plan::Cost costOf(unsigned index, const ShardedOp &candidate) {
    plan::Cost cost;
    if (role == AxisRole::Batch && leavesBatchWhole(index, candidate))
      cost.penalty += brokenRule;
    if (role == AxisRole::Tensor &&
        weights.mustSplit(graph, index, parts.front()) &&
        !weights.splits(candidate, index, parts.front()))
      cost.penalty += weights.bytes(index);
    for (unsigned i = 0; i < candidate.rule->results.size(); ++i)
      cost.memory +=
          localBytes(graph.valueOf(index, i), candidate.resultSharding(i));
    plan::Cost inner = innerCost(candidate, planner);
    cost.bytes += inner.bytes;
    cost.calls += inner.calls;
    return cost;
  }

  /// An input whose batch this axis does not split although it could.
  bool leavesBatchWhole(unsigned index, const ShardedOp &candidate) const {
    if (!graph.isArgument(index) || (graph.seedOf(index) && !inTime))
      return false;
    for (auto [tag, axes, factor] : llvm::zip_equal(
             graph.tags[index], candidate.axes, candidate.rule->factors))
      if (tag == Tag::Batch && factor.size > 1)
        return !llvm::is_contained(axes, parts.front());
    return false;
  }

  static double localBytes(Value value, const dist::Sharding &sharding) {
    auto type = graph::tensorType(value);
    return static_cast<double>(dist::numElements(
               dist::localShape(sharding, dist::shapeOf(type.getShape())))) *
           elementBytes(type);
  }

  static int64_t elementBytes(RankedTensorType type) {
    return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  }

  //===--------------------------------------------------------------------===//
  // Edges
  //===--------------------------------------------------------------------===//

  /// Index of `sharding` in `forms`, which it joins if it is new.
  static uint32_t formOf(std::vector<dist::Sharding> &forms,
                         const dist::Sharding &sharding) {
    auto it = llvm::find(forms, sharding);
    if (it == forms.end())
      it = forms.insert(forms.end(), sharding);
    return it - forms.begin();
  }

  plan::Cost priceOf(const dist::Sharding &from, const dist::Sharding &to,
                     RankedTensorType type) {
    const plan::ReshardPlan &plan = planner.plan(
        from, to, dist::shapeOf(type.getShape()), elementBytes(type));
    if (!plan.possible())
      return {brokenRule, 0, 0, 0};
    return {0, static_cast<double>(plan.receivedBytes),
            static_cast<double>(plan.calls), 0};
  }

  void addValue(unsigned producer, unsigned result) {
    ArrayRef<ShardedGraph::Edge> users = graph.users[producer][result];
    if (users.empty())
      return;
    std::vector<dist::Sharding> forms;
    plan::SharedValue value;
    value.producer = producer;
    for (const auto &results : choices[producer].results)
      value.producedForm.push_back(formOf(forms, results[result]));
    for (const ShardedGraph::Edge &edge : users) {
      auto &user = value.users.emplace_back();
      user.variable = edge.user;
      for (const auto &operands : choices[edge.user].operands)
        user.wantedForm.push_back(formOf(forms, operands[edge.operand]));
    }
    auto type = graph::tensorType(graph.valueOf(producer, result));
    value.reform.resize(forms.size());
    for (size_t from = 0; from < forms.size(); ++from)
      for (size_t to = 0; to < forms.size(); ++to)
        value.reform[from].push_back(priceOf(forms[from], forms[to], type));
    plan::addSharedValue(costs, value);
  }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  Location locationOf(unsigned index) const {
    return graph.ops[index].op ? graph.ops[index].op->getLoc()
                               : graph.function.getLoc();
  }

  /// Along time nothing moves: the op that takes the batch whole is the cause.
  LogicalResult reportWholeBatch() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      for (auto [tag, factor] :
           llvm::zip_equal(graph.tags[i], graph.ops[i].rule->factors))
        if (tag == Tag::Batch && factor.kind != graph::FactorKind::Parallel)
          return emitError(locationOf(i))
                 << graph.ops[i].op->getName().stripDialect()
                 << " needs the whole batch, so the batch cannot be cut into "
                    "microbatches";
    return success();
  }

  LogicalResult checkEdge(const ShardedGraph::Edge &edge) {
    const dist::Sharding &from =
        choices[edge.producer].results[chosen[edge.producer]][edge.result];
    const dist::Sharding &to =
        choices[edge.user].operands[chosen[edge.user]][edge.operand];
    if (priceOf(from, to, graph::tensorType(graph.valueOf(edge))).penalty <
        brokenRule)
      return success();
    Operation *op = graph.ops[edge.user].op;
    const Seed *seed = graph.seedOf(edge.user);
    std::string name = op     ? op->getName().stripDialect().str()
                       : seed ? "sharding '" + seed->text.str() + "'"
                              : "an output";
    return emitError(locationOf(edge.user))
           << name << " needs " << dist::toBriefString(to, planner.mesh())
           << " of a value that is "
           << dist::toBriefString(from, planner.mesh());
  }

  ShardedGraph &graph;
  dist::SubAxes parts;
  AxisRole role;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  bool inTime;
  dist::SubAxes decided;
  std::vector<Choices> choices;
  std::vector<unsigned> chosen;
  plan::CostGraph costs;
};
} // namespace

/// Hands out the parts one after another; the last one's cost is that of all.
static FailureOr<plan::Cost> assignInParts(ShardedGraph &graph,
                                           ArrayRef<dist::SubAxis> parts,
                                           const dist::SubAxes &before,
                                           AxisRole role, const Seeds &seeds,
                                           plan::ReshardPlanner &planner) {
  plan::Cost cost, penalties;
  for (const dist::SubAxis &part : parts) {
    AxisSearch search(graph, part, before, role, seeds, planner);
    cost = search.solve();
    if (cost.penalty >= brokenRule)
      return failure();
    penalties.penalty += cost.penalty;
    search.choose();
  }
  cost.penalty = penalties.penalty;
  return cost;
}

FailureOr<plan::Cost> pcc::shard::assignAxis(ShardedGraph &graph,
                                             ArrayRef<dist::SubAxis> parts,
                                             const dist::SubAxes &before,
                                             AxisRole role, const Seeds &seeds,
                                             plan::ReshardPlanner &planner,
                                             bool reports) {
  AxisSearch together(graph, parts, before, role, seeds, planner);
  plan::Cost cost = together.solve();
  if (parts.size() > 1 && role == AxisRole::Free) {
    // Parts that go their own ways can be cheaper: a weight split by rows and
    // by columns. On the axes with a role users count on one way each: tensor
    // parallelism is a reduction per column and row pair.
    std::vector<ShardedOp> start = graph.ops;
    FailureOr<plan::Cost> apart =
        assignInParts(graph, parts, before, role, seeds, planner);
    if (succeeded(apart) && *apart < cost)
      return *apart;
    graph.ops = std::move(start);
  }
  if (cost.penalty >= brokenRule &&
      (!reports || failed(together.reportBrokenRule())))
    return failure();
  together.choose();
  return cost;
}
