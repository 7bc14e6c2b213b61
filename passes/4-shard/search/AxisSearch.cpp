//===- AxisSearch.cpp - optimal use of one axis by all ops of a graph -----===//
//
// The search problem in the manner of Alpa (Zheng et al. 2022): a variable per
// op, whose values are the strategies of the op, and an edge per use, priced as
// the reshard from the produced to the needed sharding. minimise() solves it,
// exactly but for a few graphs that are very wide.
//
//===----------------------------------------------------------------------===//

#include "passes/4-shard/search/AxisSearch.h"
#include "dialects/dist/Lints.h"
#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "passes/plan/search/Minimise.h"
#include "sharding/ShardingText.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Largest number of entries of a cost table that the search may make. See
/// minimise().
static constexpr size_t tableLimit = size_t(1) << 20;

/// Largest number of sets of shardings that the search considers for one value.
/// A set contains the shardings in which ranks keep the value at the same time,
/// for different users. Sets of one or two shardings are always considered.
static constexpr size_t mostForms = 256;

/// Largest AxisSearch::work() for which assignAxesJointly assigns all mesh axes
/// in one search.
static constexpr double mostWork = 1e5;

/// Largest AxisSearch::work() for which the search may keep a value in three or
/// more shardings at once.
static constexpr double mostWorkOnForms = 2e4;

/// Limits on AxisSearch::work() and AxisSearch::pairsPerUse(). A search that
/// exceeds both would take minutes. The search then needs
/// AxisAssignment::mixesDims = false.
static constexpr double mostWorkOnMixing = 2.5e5;
static constexpr double mostPairsPerUse = 128;

namespace {
/// Search for the cheapest plan over one or more mesh axes. A plan selects one
/// candidate split for each node (op, argument or result) of the graph. It also
/// selects a set of shardings for each value with several users.
class AxisSearch {
public:
  /// Lists the candidate splits of each node of `graph`, and the values with
  /// users. Each of `orders` is an order in which to assign the mesh axes.
  /// Splits over the axes in `before` do not change. `graph`, `seeds`
  /// (shardings that the user set) and `planner` must outlive this object.
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

  /// Returns a unitless estimate of the time of solve(). It is the sum over all
  /// values of (number of possible shardings)² · (number of users).
  double work() const {
    double work = 0;
    for (const Value &value : values)
      work += static_cast<double>(value.forms.size()) * value.forms.size() *
              value.shared.users.size();
    return work;
  }

  /// Returns the mean number of candidate pairs per use of a value. For 3
  /// candidate splits of the producer and 4 of the user, there are 12 pairs.
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

  /// Returns whether this search would take minutes. The caller must then
  /// search with AxisAssignment::mixesDims = false.
  bool isTooLargeToMix() const {
    return work() > mostWorkOnMixing && pairsPerUse() > mostPairsPerUse;
  }

  /// Finds a plan and returns its cost. choose() applies the plan to the graph.
  /// In a large graph, the plan may not be the cheapest one. The search may
  /// ignore plans that cost `known` or more, and may then find no plan.
  plan::Cost solve(const plan::Cost &known = plan::Cost::forbidden()) {
    bound = known;
    for (Value &value : values)
      price(value);
    // Large sets of shardings may prevent a proof that the result is the
    // minimum. In that case, also search with small sets, and keep the cheaper
    // result.
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

  /// Splits the nodes of the graph as `solve` has chosen.
  void choose() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      graph.ops[i] = space.choicesOf(i)[chosen[i]].op;
  }

  /// Emits an error and fails if solve() found no plan for the axis of
  /// `assignment`, or if the plan needs an impossible reshard. Also fails if
  /// the axis is `mb` and the batch cannot be cut into microbatches.
  LogicalResult reportBrokenRule(const AxisAssignment &assignment) {
    if (chosen.empty())
      return emitError(graph.function.getLoc())
             << "no sharding over " << assignment.parts.front().axis
             << " meets all requests ["
             << std::string(dist::codeOf(dist::Lint::UnmetRequest)) << "]";
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
  /// Searches again, because `best` breaks a rule: it has the cost
  /// `brokenRulePenalty`, for example for an impossible reshard. The new search
  /// leaves out all plans with this cost. It is therefore smaller, and may find
  /// a plan that the first search missed. Replaces `best` if the new plan is
  /// cheaper.
  void avoidBrokenRules(plan::Assignment &best) {
    bound = std::min(bound, plan::Cost{.penalty = brokenRulePenalty});
    if (plan::Assignment other = minimise(/*mostSets=*/1);
        other.cost < best.cost)
      best = std::move(other);
  }

  /// Returns the best plan that plan::minimise() finds, which may not be the
  /// cheapest. A plan selects a set of shardings for each value with
  /// several users. Sets of three or more shardings are considered only while
  /// the number of possible sets for the value does not exceed `mostSets`.
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

  /// Forbids plans in which a `graph.set_parameter` writes a parameter in
  /// another sharding than the `graph.get_parameter` that reads it.
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

  /// Returns the index of `sharding` in `forms`, the list of shardings of a
  /// value. Appends it if it is missing.
  static uint32_t formOf(std::vector<dist::Sharding> &forms,
                         const dist::Sharding &sharding) {
    auto it = llvm::find(forms, sharding);
    if (it == forms.end())
      it = forms.insert(forms.end(), sharding);
    return it - forms.begin();
  }

  /// A value of the graph and the shardings (`forms`) in which it may be
  /// produced or needed.
  struct Value {
    RankedTensorType type;
    /// Number of times that the value is produced per microbatch: 1, or less
    /// for values that are produced once per training step. Costs of reshards
    /// are multiplied by this number.
    double frequency = 1;
    std::vector<dist::Sharding> forms;
    /// Input of plan::addSharedValue for this value. Shardings are numbered by
    /// their index in `forms`. `producedForm` has the number of the value's
    /// sharding for each candidate split of the producer. `wantedForm` has the
    /// same for each candidate split of one user. `reform` has the costs of
    /// reshards between all `forms`.
    plan::SharedValue shared;
  };

  /// Adds a value to `values`: result number `result` of node `producer` of the
  /// graph. Collects the shardings in which the producer may compute the value,
  /// and in which its users may need the value.
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

  /// Fills `value.shared.reform` with the costs of reshards between the
  /// shardings in `value.forms`. Leaves out reshards that no user needs or that
  /// alone exceed `bound`. Also leaves out some reshards of a value with many
  /// shardings (mayBeSource).
  void price(Value &value) const {
    const auto &forms = value.forms;
    std::vector<bool> isWanted(forms.size(), false),
        isProduced(forms.size(), false);
    for (uint32_t form : value.shared.producedForm)
      isProduced[form] = true;
    for (const plan::SharedValue::User &user : value.shared.users)
      for (uint32_t form : user.wantedForm)
        isWanted[form] = true;
    // Skip a reshard that alone moves more bytes than `bound` allows. This is
    // valid only if `bound` has no penalty and no time, which are compared
    // before bytes.
    const double mostBytes = bound.penalty > 0 || bound.picoseconds > 0
                                 ? brokenRulePenalty
                                 : bound.bytes;
    std::vector<double> size;
    for (const dist::Sharding &form : forms)
      // Each rank receives at least the bytes by which its shard grows. The
      // loop below skips a reshard if these are more than `mostBytes`. A shard
      // with a halo also contains padding, which no rank sends. Count such a
      // shard as 0 bytes, so that the loop skips no reshard to it.
      size.push_back(dist::hasView(form) ? 0 : localBytes(value.type, form));
    auto &reform = value.shared.reform;
    reform.resize(forms.size());
    for (size_t from = 0; from < forms.size(); ++from) {
      if (!isProduced[from] && !mayBeSource(forms[from], forms.size()))
        continue;
      for (size_t to = 0; to < forms.size(); ++to)
        reform[from].push_back(
            from == to ? plan::Cost()
            : isWanted[to] &&
                    (size[to] - size[from]) * value.frequency <= mostBytes
                ? priceOf(planner, value.type, forms[from], forms[to])
                      .times(value.frequency)
                : plan::Cost::forbidden());
    }
  }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns the location of node `index` of the graph, or the location of the
  /// function if the node is no op.
  Location locationOf(unsigned index) const {
    return graph.ops[index].op ? graph.ops[index].op->getLoc()
                               : graph.function.getLoc();
  }

  /// Emits an error at the first op that needs the whole batch, and fails. The
  /// op makes it impossible to cut the batch into microbatches.
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

  /// Emits an error about the first input whose batch cannot be cut into
  /// microbatches, and fails.
  LogicalResult reportWholeInput() {
    for (unsigned i = 0; graph.isArgument(i); ++i)
      if (choiceOf(i).cost.penalty >= brokenRulePenalty ||
          llvm::any_of(graph.users[i][0],
                       [&](const ShardedGraph::OperandEdge &edge) {
                         return breaksRule(edge);
                       }))
        return emitError(graph.valueOf(i, 0).getLoc())
               << "the batch of input '"
               << graph.function
                      .getArgAttrOfType<StringAttr>(i, graph::nameName)
                      .getValue()
               << "' cannot be cut into microbatches: some op needs all of it";
    return success();
  }

  /// Returns the candidate split that `solve` selected for node `op` of the
  /// graph.
  const OpChoice &choiceOf(unsigned op) const {
    return space.choicesOf(op)[chosen[op]];
  }

  /// Returns whether the plan that solve() found needs an impossible reshard on
  /// `edge`, between the producer and the user of a value.
  bool breaksRule(const ShardedGraph::OperandEdge &edge) {
    return priceOf(planner, graph::tensorType(graph.valueOf(edge)),
                   choiceOf(edge.producer).results[edge.result],
                   choiceOf(edge.user).operands[edge.operand])
               .penalty >= brokenRulePenalty;
  }

  /// If the reshard of the value on `edge` is impossible, emits an error at the
  /// user and fails.
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
           << (isCutInTime(from) != isCutInTime(to)
                   ? ", so the batch cannot be cut into these microbatches"
                   : "")
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
  /// A limit for the cost of a plan. The search may ignore each plan that costs
  /// `bound` or more. For example, the caller of `solve` may already have a
  /// plan that costs `bound`.
  plan::Cost bound;
  /// By node: index of the candidate split that `solve` selected, among all
  /// candidate splits of the node.
  std::vector<unsigned> chosen;
};
} // namespace

/// Assigns the sub-axes of `assignment` one after another, so that they may
/// split different dims. Returns the cost, with the penalties for all sub-axes.
/// Fails if there is no valid plan for a sub-axis. `graph` then keeps the
/// splits over the earlier sub-axes, so the caller must restore `graph`.
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
    // In a large graph, the first search (`together`) may miss the cheapest
    // plan. Search again, with fewer candidate splits for the ops around the
    // experts. Use the second plan, unless the first plan is cheaper.
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
    // Search again, one sub-axis after another, so that sub-axes may split
    // different dims. Only axes with a name other than `dp`, `mb`, `cp` and
    // `tp` do this. Users expect each of these four to split one dim as a
    // whole.
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
