//===- AxisSearch.cpp - optimal use of one axis by all ops of a graph -----===//
//
// The search problem in the manner of Alpa (Zheng et al. 2022): a variable per
// op, whose values are the strategies of the op, and an edge per use, priced as
// the reshard from the produced to the needed sharding. It is solved by
// variable elimination (Dechter 1999), exactly where tables stay small.
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

/// Maximum number of entries of a table in variable elimination.
static constexpr size_t tableLimit = size_t(1) << 20;

/// Maximum number of sets of shardings from which the search chooses the set
/// that is kept of a value.
static constexpr size_t mostForms = 256;

/// Maximum work (AxisSearch::work) for which assignAxesJointly searches. Beyond
/// it, the joint search takes much longer than assignAxis for each axis.
static constexpr double mostWork = 1e5;

/// Maximum work for which the search keeps sets of several additional shardings
/// per value. Beyond it, the sets would take longer than the rest of the
/// search.
static constexpr double mostWorkOnForms = 2e4;

/// Maximum work, and maximum pairs of choices per use. If both are exceeded,
/// parts of an axis stay in one dim. Otherwise the search would take minutes
/// and freeze more variables. Example: a convolution in a training step has 75
/// and more choices for 4 ranks if it mixes dims, and a table over three such
/// ops exceeds tableLimit.
static constexpr double mostWorkOnMixing = 2.5e5;
static constexpr double mostPairsPerUse = 128;

namespace {
/// One search: builds the choices of all vertices, prices all reshards among
/// them, and finds the cheapest combination.
///
///   producer ---- value ---- user 0      a variable per vertex and, for a value
///                      \---- user 1      with several users, one more for the
///                                        shardings in which it is kept
class AxisSearch {
public:
  /// Builds the choices (StrategySpace) and the values of the graph that have
  /// users. All arguments must outlive this, except `orders`.
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

  /// Returns an estimate of the number of prices and combinations of shardings
  /// at which `solve` looks.
  double work() const {
    double work = 0;
    for (const Value &value : values)
      work += static_cast<double>(value.forms.size()) * value.forms.size() *
              value.shared.users.size();
    return work;
  }

  /// Returns the mean number of pairs of choices that meet at a use.
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

  /// Returns whether the search is too large for choices that mix dims.
  bool isTooLargeToMix() const {
    return work() > mostWorkOnMixing && pairsPerUse() > mostPairsPerUse;
  }

  /// Finds the cheapest combination of choices and returns its cost; `choose`
  /// applies it. Combinations that cost `known` or more need not be found.
  plan::Cost solve(const plan::Cost &known = plan::Cost::forbidden()) {
    bound = known;
    for (Value &value : values)
      price(value);
    // With fewer sets of shardings the model is less exact, but the elimination
    // is more likely to be.
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

  /// Writes the choices that `solve` found into the graph.
  void choose() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      graph.ops[i] = space.choicesOf(i)[chosen[i]].op;
  }

  /// Emits an error at the first op at which the found choice breaks a rule,
  /// and fails. Succeeds if no such op is found.
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
  /// Searches again for a plan that breaks no rule, if that is cheaper than
  /// `best`. The smaller bound leaves fewer choices, so the search is more
  /// exact.
  void avoidBrokenRules(plan::Assignment &best) {
    bound = std::min(bound, plan::Cost{.penalty = brokenRulePenalty});
    if (plan::Assignment other = minimise(/*mostSets=*/1);
        other.cost < best.cost)
      best = std::move(other);
  }

  /// Builds the cost graph and finds its minimum. `mostSets` limits, per value,
  /// the sets of two or more shardings in which the value is kept.
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

  /// Forbids that a parameter is written in another sharding than it is read
  /// in.
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

  /// Returns the index of `sharding` in `forms`; appends it if it is new.
  static uint32_t formOf(std::vector<dist::Sharding> &forms,
                         const dist::Sharding &sharding) {
    auto it = llvm::find(forms, sharding);
    if (it == forms.end())
      it = forms.insert(forms.end(), sharding);
    return it - forms.begin();
  }

  /// A value and its forms: all shardings in which its producer may make it or
  /// a user may need it.
  struct Value {
    RankedTensorType type;
    /// Number of times that the value is made per microbatch: 1, or 1 /
    /// microbatches if it is made once per step.
    double frequency = 1;
    std::vector<dist::Sharding> forms;
    /// The produced and needed forms of each choice, and the prices of reshards
    /// between forms.
    plan::SharedValue shared;
  };

  /// Adds result `result` of vertex `producer` and collects its forms.
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

  /// Prices the reshards of `value` between its forms. A reshard is forbidden
  /// without being planned if no user needs its result, or if it would receive
  /// more bytes than the bound allows.
  void price(Value &value) const {
    const auto &forms = value.forms;
    std::vector<bool> isWanted(forms.size(), false);
    for (const plan::SharedValue::User &user : value.shared.users)
      for (uint32_t form : user.wantedForm)
        isWanted[form] = true;
    // Penalties and seconds compare before bytes. If the bound allows any, no
    // number of bytes rules a reshard out.
    const double mostBytes = bound.penalty > 0 || bound.seconds > 0
                                 ? brokenRulePenalty
                                 : bound.bytes;
    std::vector<double> size;
    for (const dist::Sharding &form : forms)
      // Holes of a view are not communicated, so its size is no lower bound.
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

  /// Returns the location of vertex `index`, or that of the function.
  Location locationOf(unsigned index) const {
    return graph.ops[index].op ? graph.ops[index].op->getLoc()
                               : graph.function.getLoc();
  }

  /// Reports an op that needs the whole batch. Communication along the time
  /// axis is impossible, so the op that needs the batch is the cause.
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

  /// Reports an input that every microbatch would read whole, which means that
  /// all microbatches compute the same.
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

  /// Returns the choice found for vertex `op`.
  const OpChoice &choiceOf(unsigned op) const {
    return space.choicesOf(op)[chosen[op]];
  }

  /// Returns whether the reshard on `edge` is impossible.
  bool breaksRule(const ShardedGraph::OperandEdge &edge) {
    return priceOf(planner, graph::tensorType(graph.valueOf(edge)),
                   choiceOf(edge.producer).results[edge.result],
                   choiceOf(edge.user).operands[edge.operand])
               .penalty >= brokenRulePenalty;
  }

  /// Emits an error at the user and fails if the reshard on `edge` is
  /// impossible.
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
  /// All values that have users.
  std::vector<Value> values;
  /// Cost that a solution must stay below.
  plan::Cost bound;
  /// Per vertex: index of its choice in the found solution.
  std::vector<unsigned> chosen;
};
} // namespace

/// Assigns the parts of an axis one after another. Returns the cost after the
/// last part, with the penalties of all parts. Fails, with the graph partly
/// changed, if some part breaks a rule.
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
    // A second search without moved tokens has fewer choices, so that it may be
    // exact where the first one is not.
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
    // Parts that split different dims can be cheaper: a weight split by rows
    // and by columns. Axes with a role are not split up, since users count on
    // one use of each axis: tensor parallelism is one reduction per pair of
    // column and row products.
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
