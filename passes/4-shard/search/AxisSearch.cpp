//===- AxisSearch.cpp - what one axis splits, at the least cost -----------===//
//
// A variable per op (value = strategy), an edge per use, priced as the reshard
// from what the producer gives to what the user takes. Solved exactly by
// variable elimination.
//
//===----------------------------------------------------------------------===//

#include "passes/4-shard/search/AxisSearch.h"
#include "dialects/dist/Lints.h"
#include "dialects/dist/ShardingText.h"
#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "passes/plan/search/Eliminate.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// The most entries of a table.
static constexpr size_t tableLimit = size_t(1) << 20;

/// The most sets of forms that may be kept of a value.
static constexpr size_t mostForms = 256;

/// Beyond this `assignAxesJointly` would take much longer than `assignAxis` for each.
static constexpr double mostWork = 1e5;

/// Beyond this keeping several forms of values would take longer than the rest.
static constexpr double mostWorkOnForms = 2e4;

/// Beyond both of these, parts of an axis stay in one dim: to mix dims would
/// take minutes to search, and more would have to be frozen. An op of a
/// training step of convolutions has 75 choices and more for 4 ranks if it
/// mixes them, and a table over three such ops is full.
static constexpr double mostWorkOnMixing = 2.5e5;
static constexpr double mostPairsPerUse = 128;

namespace {
class AxisSearch {
public:
  AxisSearch(ShardedGraph &graph, ArrayRef<std::vector<AxisAssignment>> orders,
             const dist::SubAxes &before, const Seeds &seeds,
             plan::ReshardPlanner &planner)
      : graph(graph), planner(planner),
        space(graph, orders, before, seeds, planner) {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      for (unsigned result = 0; result < graph.users[i].size(); ++result)
        if (!graph.users[i][result].empty())
          addValue(i, result);
  }

  /// How many prices and combinations of forms `solve` looks at, about.
  double work() const {
    double work = 0;
    for (const Value &value : values)
      work += static_cast<double>(value.forms.size()) * value.forms.size() *
              value.shared.users.size();
    return work;
  }

  /// How many pairs of choices meet at a use, on average.
  double pairsPerUse() const {
    double pairs = 0, uses = 0;
    for (const Value &value : values)
      for (const plan::SharedValue::User &user : value.shared.users) {
        pairs += static_cast<double>(value.shared.producedForm.size()) *
                 user.wantedForm.size();
        ++uses;
      }
    return pairs / std::max(uses, 1.0);
  }

  bool isTooLargeToMix() const {
    return work() > mostWorkOnMixing && pairsPerUse() > mostPairsPerUse;
  }

  /// Finds the cheapest choice; `choose` makes it. One that costs `known` or
  /// more need not be found.
  plan::Cost solve(const plan::Cost &known = plan::Cost::forbidden()) {
    bound = known;
    for (Value &value : values)
      price(value);
    // Fewer forms are less exact, but easier to search.
    const bool isLarge = work() > mostWorkOnForms;
    plan::Assignment best = minimise(isLarge ? 1 : mostForms);
    if (!isLarge && !best.exact)
      if (plan::Assignment other = minimise(/*mostSets=*/1);
          other.cost < best.cost)
        best = std::move(other);
    if (!best.exact && best.cost.penalty >= brokenRulePenalty)
      avoidBrokenRules(best);
    if (best.allowed())
      chosen.assign(best.values.begin(),
                    best.values.begin() + graph.ops.size());
    return best.cost;
  }

  void choose() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      graph.ops[i] = space.choicesOf(i)[chosen[i]].op;
  }

  /// Reports the first op at which the choice breaks a rule.
  LogicalResult reportBrokenRule(const AxisAssignment &assignment) {
    const bool isTime = assignment.parts.front().axis == dist::timeAxis;
    if (isTime && (failed(reportWholeBatch()) || failed(reportWholeInput())))
      return failure();
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      for (const ShardedGraph::OperandEdge &edge : graph.operands[i])
        if (failed(checkEdge(edge)))
          return failure();
    }
    return success();
  }

private:
  /// Without what breaks a rule for sure there is less to look at, and so more
  /// of it can be.
  void avoidBrokenRules(plan::Assignment &best) {
    bound = std::min(bound, plan::Cost{.penalty = brokenRulePenalty});
    if (plan::Assignment other = minimise(/*mostSets=*/1);
        other.cost < best.cost)
      best = std::move(other);
  }

  /// With at most so many sets of forms per value that hold two or more.
  plan::Assignment minimise(size_t mostSets) const {
    plan::CostGraph costs;
    for (unsigned i = 0; i < graph.ops.size(); ++i) {
      std::vector<plan::Cost> own;
      for (const OpChoice &choice : space.choicesOf(i))
        own.push_back(choice.cost);
      costs.addVariable(std::move(own));
    }
    for (const Value &value : values)
      plan::addSharedValue(costs, value.shared, bound, mostSets);
    tieWrites(costs);
    plan::Assignment best = plan::minimise(costs, tableLimit, bound);
    LDBG() << best.cost.bytes << " bytes, " << best.cost.calls
           << " calls, exact " << best.exact << ", largest table "
           << best.largestTable;
    return best;
  }

  /// A weight is written as it is stored.
  void tieWrites(plan::CostGraph &costs) const {
    for (auto [read, write] : graph.writes())
      costs.addPairs(read, write,
                     [&, read = read, write = write](size_t i, size_t j) {
                       return space.choicesOf(read)[i].results[0] ==
                                      space.choicesOf(write)[j].operands[0]
                                  ? plan::Cost()
                                  : plan::Cost::forbidden();
                     });
  }

  /// Index of `sharding` in `forms`, which it joins if it is new.
  static uint32_t formOf(std::vector<dist::Sharding> &forms,
                         const dist::Sharding &sharding) {
    auto it = llvm::find(forms, sharding);
    if (it == forms.end())
      it = forms.insert(forms.end(), sharding);
    return it - forms.begin();
  }

  /// A value and all shardings that it may be made or wanted in.
  struct Value {
    RankedTensorType type;
    /// How often it is made, as a share of the microbatches.
    double frequency = 1;
    std::vector<dist::Sharding> forms;
    plan::SharedValue shared;
  };

  void addValue(unsigned producer, unsigned result) {
    Value &value = values.emplace_back();
    value.type = graph::tensorType(graph.valueOf(producer, result));
    value.shared.producer = producer;
    if (graph.runsOncePerStep(producer))
      value.frequency =
          1.0 / std::max<int64_t>(
                    1, planner.mesh().sizeOf(std::string(dist::timeAxis)));
    for (const OpChoice &choice : space.choicesOf(producer))
      value.shared.producedForm.push_back(
          formOf(value.forms, choice.results[result]));
    for (const ShardedGraph::OperandEdge &edge :
         graph.users[producer][result]) {
      auto &user = value.shared.users.emplace_back();
      user.variable = edge.user;
      for (const OpChoice &choice : space.choicesOf(edge.user))
        user.wantedForm.push_back(
            formOf(value.forms, choice.operands[edge.operand]));
    }
  }

  /// Asks for prices where they may matter.
  void price(Value &value) const {
    const auto &forms = value.forms;
    std::vector<bool> isWanted(forms.size(), false);
    for (const plan::SharedValue::User &user : value.shared.users)
      for (uint32_t form : user.wantedForm)
        isWanted[form] = true;
    // Bytes alone say nothing where rules or seconds count before them.
    const double mostBytes = bound.penalty > 0 || bound.seconds > 0
                                 ? brokenRulePenalty
                                 : bound.bytes;
    std::vector<double> size;
    for (const dist::Sharding &form : forms)
      // Holes of a view travel nowhere.
      size.push_back(dist::hasView(form) ? 0 : localBytes(value.type, form));
    auto &reform = value.shared.reform;
    reform.resize(forms.size());
    for (size_t from = 0; from < forms.size(); ++from)
      for (size_t to = 0; to < forms.size(); ++to)
        reform[from].push_back(
            from == to ? plan::Cost()
            : isWanted[to] && size[to] - size[from] <= mostBytes
                ? priceOf(planner, value.type, forms[from], forms[to])
                      .times(value.frequency)
                : plan::Cost::forbidden());
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
        if (tag == FactorTag::Batch && !seesWholeBatch(graph.ops[i].op) &&
            !mayCutInTime(graph, factor.kind))
          return emitError(locationOf(i))
                 << graph.ops[i].op->getName().stripDialect()
                 << " needs the whole batch, so the batch cannot be cut into "
                    "microbatches";
    return success();
  }

  /// Microbatches that all compute the whole batch are of no use.
  LogicalResult reportWholeInput() {
    for (unsigned i = 0; graph.isArgument(i); ++i)
      if (choiceOf(i).cost.penalty >= brokenRulePenalty ||
          llvm::any_of(graph.users[i][0],
                       [&](const ShardedGraph::OperandEdge &edge) {
                         return breaksRule(edge);
                       }))
        return emitError(graph.valueOf(i, 0).getLoc())
               << "the batch of input "
               << graph.function.getArgAttr(i, "graph.name")
               << " cannot be cut into microbatches: some op needs all of it";
    return success();
  }

  const OpChoice &choiceOf(unsigned op) const {
    return space.choicesOf(op)[chosen[op]];
  }

  bool breaksRule(const ShardedGraph::OperandEdge &edge) {
    return priceOf(planner, graph::tensorType(graph.valueOf(edge)),
                   choiceOf(edge.producer).results[edge.result],
                   choiceOf(edge.user).operands[edge.operand])
               .penalty >= brokenRulePenalty;
  }

  LogicalResult checkEdge(const ShardedGraph::OperandEdge &edge) {
    if (!breaksRule(edge))
      return success();
    const dist::Sharding &from = choiceOf(edge.producer).results[edge.result];
    const dist::Sharding &to = choiceOf(edge.user).operands[edge.operand];
    Operation *op = graph.ops[edge.user].op;
    if (op && isPartialInTime(from) && !isPartialInTime(to))
      return emitError(locationOf(edge.user))
             << op->getName().stripDialect()
             << " needs a sum over the whole batch, so the batch cannot be cut "
                "into microbatches";
    const Seed *seed = graph.seedOf(edge.user);
    std::string name = op     ? op->getName().stripDialect().str()
                       : seed ? "sharding '" + seed->text.str() + "'"
                              : "an output";
    return emitError(locationOf(edge.user))
           << name << " needs " << dist::toBriefString(to, planner.mesh())
           << " of a value that is "
           << dist::toBriefString(from, planner.mesh())
           << (seed ? " [" +
                          std::string(dist::codeOf(dist::Lint::UnmetRequest)) +
                          "]"
                    : "");
  }

  ShardedGraph &graph;
  plan::ReshardPlanner &planner;
  StrategySpace space;
  std::vector<Value> values;
  plan::Cost bound;
  std::vector<unsigned> chosen;
};
} // namespace

/// Hands out the parts one after another; the last one's cost is that of all.
static FailureOr<plan::Cost> assignApart(ShardedGraph &graph,
                                         const AxisAssignment &assignment,
                                         const dist::SubAxes &before,
                                         const Seeds &seeds,
                                         plan::ReshardPlanner &planner) {
  plan::Cost cost;
  double penalty = 0;
  for (const dist::SubAxis &part : assignment.parts) {
    AxisSearch search(graph, {{AxisAssignment{{part}, assignment.role}}},
                      before, seeds, planner);
    cost = search.solve();
    if (cost.penalty >= brokenRulePenalty)
      return failure();
    penalty += cost.penalty;
    search.choose();
  }
  cost.penalty = penalty;
  return cost;
}

FailureOr<plan::Cost>
pcc::shard::assignAxis(ShardedGraph &graph, const AxisAssignment &wanted,
                       const dist::SubAxes &before, const Seeds &seeds,
                       plan::ReshardPlanner &planner, bool reports) {
  AxisAssignment assignment = wanted;
  std::optional<AxisSearch> together(
      std::in_place, graph, std::vector{assignment}, before, seeds, planner);
  if (assignment.parts.size() > 1 && together->isTooLargeToMix()) {
    assignment.mixesDims = false;
    together.emplace(graph, std::vector{assignment}, before, seeds, planner);
  }
  plan::Cost cost = together->solve();
  if (knowsExperts(assignment.role)) {
    // Fewer choices, of which the cheapest is found where more are too many.
    AxisAssignment other = assignment;
    other.movesTokens = false;
    AxisSearch named(graph, {{other}}, before, seeds, planner);
    if (plan::Cost least = named.solve();
        least.penalty < brokenRulePenalty && !(cost < least)) {
      named.choose();
      return least;
    }
  }
  if (assignment.parts.size() > 1 && assignment.role == AxisRole::Free) {
    // Parts that go their own ways can be cheaper: a weight split by rows and
    // by columns. On the axes with a role users count on one way each: tensor
    // parallelism is a reduction per column and row pair.
    std::vector<ShardedOp> start = graph.ops;
    FailureOr<plan::Cost> apart =
        assignApart(graph, assignment, before, seeds, planner);
    if (succeeded(apart) && *apart < cost)
      return *apart;
    graph.ops = std::move(start);
  }
  if (cost.penalty >= brokenRulePenalty &&
      (!reports || failed(together->reportBrokenRule(assignment))))
    return failure();
  together->choose();
  return cost;
}

LogicalResult
pcc::shard::assignAxesJointly(ShardedGraph &graph,
                              ArrayRef<std::vector<AxisAssignment>> orders,
                              const plan::Cost &known, const Seeds &seeds,
                              plan::ReshardPlanner &planner) {
  AxisSearch search(graph, orders, {}, seeds, planner);
  if (search.work() > mostWork)
    return failure();
  if (!(search.solve(known) < known))
    return failure();
  search.choose();
  return success();
}
