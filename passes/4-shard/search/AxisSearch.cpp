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
#include "passes/4-shard/graph/WholeBatchReductions.h"
#include "passes/plan/search/Eliminate.h"
#include "sharding/ShardingText.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Largest number of entries of a table in variable elimination.
static constexpr size_t tableLimit = size_t(1) << 20;

/// Largest number of sets of shardings that the search considers per value. A
/// value may be kept in a set of shardings, for users with different needs.
/// Sets of one or two are always considered.
static constexpr size_t mostForms = 256;

/// Largest search that assignAxesJointly accepts. AxisSearch::work estimates
/// the size of a search, in pairs of shardings.
static constexpr double mostWork = 1e5;

/// Limit of the size of a search (AxisSearch::work, in pairs of shardings). Up
/// to this size, the search may keep a value in three or more shardings at the
/// same time. In a larger search, it may keep a value in at most two.
static constexpr double mostWorkOnForms = 2e4;

/// Limits of AxisSearch::work and of AxisSearch::pairsPerUse. A search that
/// exceeds both limits would take minutes. For example, a convolution in a
/// training step can have 75 or more ways of being split over 4 ranks. A
/// smaller search then replaces this search. In the smaller search,
/// AxisAssignment::mixesDims is false.
///
/// The smaller search ignores most splits of two dims over one axis. Example: a
/// weight has 2 rows and 8 columns, and an axis has 4 ranks. The larger search
/// may split the rows into 2 and the columns into 2. The smaller search may
/// not.
static constexpr double mostWorkOnMixing = 2.5e5;
static constexpr double mostPairsPerUse = 128;

namespace {
/// One search: makes the choices of all vertices (ops, arguments, results),
/// prices the reshards between them, and finds the cheapest combination. The
/// search has two kinds of variables:
///
///   variable                     its possible values
///   a vertex                     ways of splitting the vertex
///   a value with several users   sets of shardings in which to keep the value
class AxisSearch {
public:
  /// Lists the ways of splitting each vertex (op, argument or result) of
  /// `graph`, and collects the values that have users.
  ///
  /// - `orders` lists orders of the mesh axes that this search assigns. A way
  ///   of splitting a vertex may assign the axes in any of these orders.
  /// - `before` lists the axes that earlier searches have assigned. This search
  ///   does not change how they split the vertices.
  /// - `seeds` contains the requested shardings.
  /// - `planner` prices reshards (changes of sharding).
  ///
  /// `graph`, `seeds` and `planner` must outlive this object.
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

  /// Returns an estimate of the work of `solve`: for each value, the number of
  /// pairs of shardings times the number of users.
  double work() const {
    double work = 0;
    for (const Value &value : values)
      work += static_cast<double>(value.forms.size()) * value.forms.size() *
              value.shared.users.size();
    return work;
  }

  /// Returns the mean number of pairs over all uses. A use is an operand of an
  /// op that reads a value. A pair of this use is a way of splitting the op
  /// that produces the value, and a way of splitting the op that reads it. For
  /// example, 3 ways of the first op and 4 ways of the second op are 12 pairs.
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

  /// Returns whether this search would take minutes, because it exceeds both
  /// `mostWorkOnMixing` and `mostPairsPerUse`. The caller then replaces it by a
  /// smaller search with AxisAssignment::mixesDims = false.
  bool isTooLargeToMix() const {
    return work() > mostWorkOnMixing && pairsPerUse() > mostPairsPerUse;
  }

  /// Finds the cheapest combination of choices and returns its cost. The graph
  /// changes only when `choose` is called. A combination that costs `known` or
  /// more may be missed.
  plan::Cost solve(const plan::Cost &known = plan::Cost::forbidden()) {
    bound = known;
    for (Value &value : values)
      price(value);
    // A plan may keep a value in several shardings at once. The first search
    // therefore considers many sets of shardings for each value, unless the
    // graph is too large. With many sets, variable elimination may be unable to
    // prove that its result is the minimum. In that case, also search with few
    // sets, and keep the cheaper result.
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

  /// Splits the vertices of the graph as `solve` has chosen.
  void choose() {
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      graph.ops[i] = space.choicesOf(i)[chosen[i]].op;
  }

  /// Emits an error and fails if the plan that `solve` found is impossible. The
  /// search assigns the mesh axis of `assignment`. These cases are errors:
  ///
  /// - `solve` has found no plan, because no plan meets all requests for
  ///   shardings.
  /// - The axis is the time axis `mb`, which cuts the batch into microbatches,
  ///   and an op or an input does not allow this cut.
  /// - The plan contains an impossible reshard (change of sharding).
  ///
  /// Succeeds in all other cases.
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
  /// Searches again, but only for plans that break no rule. Replaces `best` if
  /// the new plan is cheaper. There are two rules:
  ///
  /// - Every reshard (change of sharding) must be possible.
  /// - An axis for the batch must split the batch of each input, with the
  ///   exceptions of StrategySpace::mustSplitBatch.
  ///
  /// The new search drops each way of splitting an op that certainly breaks a
  /// rule. The cost tables of variable elimination are therefore smaller, and
  /// the result is more often the exact minimum.
  void avoidBrokenRules(plan::Assignment &best) {
    bound = std::min(bound, plan::Cost{.penalty = brokenRulePenalty});
    if (plan::Assignment other = minimise(/*mostSets=*/1);
        other.cost < best.cost)
      best = std::move(other);
  }

  /// Builds the cost graph, and finds its minimum by variable elimination. A
  /// plan may keep a value in a set of several shardings at once. Sets that
  /// cannot lower the total cost are ignored. For each value with several
  /// users, the search considers the following sets:
  ///
  /// - all sets of one or two shardings
  /// - all sets of three shardings, if the value then has at most `mostSets`
  ///   sets in total; then sets of four shardings by the same rule, and so on
  ///
  /// Example: a value has 10 sets of one or two shardings, and 30 sets of three
  /// shardings. The search considers all 40 sets if `mostSets` is 100, and only
  /// the 10 sets if `mostSets` is 1.
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

  /// Forbids a parameter to be read in one sharding and written in another.
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

  /// Returns the index of `sharding` in `forms`, the shardings of a value.
  /// Appends it if it is missing.
  static uint32_t formOf(std::vector<dist::Sharding> &forms,
                         const dist::Sharding &sharding) {
    auto it = llvm::find(forms, sharding);
    if (it == forms.end())
      it = forms.insert(forms.end(), sharding);
    return it - forms.begin();
  }

  /// A value of the graph and its forms, the shardings in which it may be
  /// produced or needed.
  struct Value {
    RankedTensorType type;
    /// Number of times that the value is produced per microbatch: 1, or less if
    /// it is produced once per step.
    double frequency = 1;
    std::vector<dist::Sharding> forms;
    /// Facts about the value for variable elimination. Each sharding is given
    /// by its index in `forms`:
    ///
    /// - for each way of splitting the producer: the sharding of the value
    /// - for each user, and each way of splitting the user: the sharding in
    ///   which the user needs the value
    /// - for each pair of shardings: the price of the reshard from the first
    ///   sharding to the second
    plan::SharedValue shared;
  };

  /// Adds result number `result` of vertex `producer` of the graph to `values`,
  /// and collects its forms (shardings).
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

  /// Computes the prices of reshards of `value` between its forms (shardings).
  /// A reshard is forbidden if no user needs its result, or if it would receive
  /// more bytes than `bound`. A form that the producer cannot make gets no
  /// prices if mayBeSource() is false.
  void price(Value &value) const {
    const auto &forms = value.forms;
    std::vector<bool> isWanted(forms.size(), false),
        isProduced(forms.size(), false);
    for (uint32_t form : value.shared.producedForm)
      isProduced[form] = true;
    for (const plan::SharedValue::User &user : value.shared.users)
      for (uint32_t form : user.wantedForm)
        isWanted[form] = true;
    // Costs are compared by penalty, then by seconds, then by bytes. Therefore
    // the bytes of `bound` limit a reshard only if `bound` has no penalty and
    // no seconds.
    const double mostBytes = bound.penalty > 0 || bound.seconds > 0
                                 ? brokenRulePenalty
                                 : bound.bytes;
    std::vector<double> size;
    for (const dist::Sharding &form : forms)
      // `size[to] - size[from]` is a lower bound of the bytes that a rank
      // receives in a reshard. A sharding with a view describes a windowed
      // read, such as a halo exchange. Its local buffer may contain holes:
      // places that receive no element. If `size` counted the holes, the bound
      // could be too large. Therefore `size` is 0 for a sharding with a view.
      size.push_back(dist::hasView(form) ? 0 : localBytes(value.type, form));
    auto &reform = value.shared.reform;
    reform.resize(forms.size());
    for (size_t from = 0; from < forms.size(); ++from) {
      if (!isProduced[from] && !mayBeSource(forms[from], forms.size()))
        continue;
      for (size_t to = 0; to < forms.size(); ++to)
        reform[from].push_back(
            from == to ? plan::Cost()
            : isWanted[to] && size[to] - size[from] <= mostBytes
                ? priceOf(planner, value.type, forms[from], forms[to])
                      .times(value.frequency)
                : plan::Cost::forbidden());
    }
  }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Returns the location of vertex `index` of the graph, or the location of
  /// the function if the vertex is no op.
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
               << "the batch of input "
               << graph.function.getArgAttr(i, graph::nameName)
               << " cannot be cut into microbatches: some op needs all of it";
    return success();
  }

  /// Returns the choice that `solve` found for vertex `op` of the graph.
  const OpChoice &choiceOf(unsigned op) const {
    return space.choicesOf(op)[chosen[op]];
  }

  /// Returns whether the reshard of the value on `edge`, from the producer's
  /// choice to the user's choice, is impossible.
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
  /// Upper bound: the search may ignore solutions that cost this or more.
  plan::Cost bound;
  /// By vertex: index of the choice that `solve` found, among all choices of
  /// the vertex.
  std::vector<unsigned> chosen;
};
} // namespace

/// Assigns the parts (sub-axes) of an axis one after another. Returns the cost
/// after the last part, with the penalties of all parts. Fails if a part breaks
/// a rule; earlier parts then stay assigned.
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
    // Search again, but let the axis split only the batch, the sequence or the
    // experts. This search has fewer choices. It may therefore be exact even if
    // the search above is not.
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
    // Also try to assign the parts (sub-axes) of the axis one after another.
    // They may then split different dims, such as rows and columns of a weight,
    // and the plan may be cheaper. Try this only for axes that the user named
    // in `--mesh` (role Free). Users expect that `dp`, `cp` and `tp` are used
    // in one way.
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
