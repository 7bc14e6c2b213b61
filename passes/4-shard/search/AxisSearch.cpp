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

/// Largest number of entries of a cost table. The search finds a cheap plan by
/// variable elimination (passes/plan/search/Eliminate.h). Each choice of the
/// search is a variable. For example, a variable selects the way in which one
/// op is split. The search eliminates one variable after another, and makes a
/// cost table for each variable. The neighbors of a variable are the variables
/// that have common costs with it. The table has one entry for each combination
/// of values of the neighbors. For example, if two neighbors have 10 and 20
/// values, the table has 200 entries.
///
/// If every new table would have more entries than this limit, the search fixes
/// the value of one variable without a table. The result is then not proven to
/// be the cheapest plan.
static constexpr size_t tableLimit = size_t(1) << 20;

/// Limit on the sets of shardings that the search considers for one value. A
/// value is a tensor of the graph. If several ops read a value in different
/// shardings, the ranks may keep the value in several shardings at the same
/// time. For example, the ranks may keep a value in the set {replicated, split
/// by tp}. The search chooses one set for each value that several ops read.
///
/// The search always considers all sets of one or two shardings. It considers
/// larger sets only if the number of sets stays within the limit. For example,
/// a value has 10 sets of one or two shardings, and 30 sets of three shardings.
/// The search considers all 40 sets, because 40 is less than the limit of 256.
static constexpr size_t mostForms = 256;

/// Largest size of a search that assignAxesJointly accepts. The function
/// assignAxesJointly decides in one search which dims all mesh axes split. It
/// fails if the size of the search is larger than this limit.
///
/// The size is the result of AxisSearch::work, which is a sum over all values
/// of the graph. For each value, the number of possible shardings is squared
/// and multiplied by the number of operands that read the value. For example, a
/// value with 10 possible shardings that 3 operands read adds 10 · 10 · 3 = 300
/// to the size.
static constexpr double mostWork = 1e5;

/// Largest size of a search in which a value may be kept in three or more
/// shardings at the same time. In a larger search, a value may be kept in at
/// most two shardings.
///
/// The size is the result of AxisSearch::work, which is a sum over all values
/// of the graph. For each value, the number of possible shardings is squared
/// and multiplied by the number of operands that read the value. For example, a
/// value with 10 possible shardings that 3 operands read adds 10 · 10 · 3 = 300
/// to the size.
static constexpr double mostWorkOnForms = 2e4;

/// Two limits on a search in which two parts of one mesh axis may split two
/// dims of an op. For example, one half of the axis splits the rows of a
/// weight, and the other half splits the columns. A search that exceeds both
/// limits would take minutes. The compiler then leaves out most of these splits
/// (AxisAssignment::mixesDims is false). `mostWorkOnMixing` limits
/// AxisSearch::work, and `mostPairsPerUse` limits AxisSearch::pairsPerUse.
static constexpr double mostWorkOnMixing = 2.5e5;
static constexpr double mostPairsPerUse = 128;

namespace {
/// A search for the cheapest plan. A plan selects a way of splitting for each
/// vertex (op, argument or result) of the graph, over one or more mesh axes.
/// The cost of a plan also contains the reshards (changes of sharding) between
/// the vertices. The variables of the search are:
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

  /// Returns an estimate of the time that `solve` takes, as a number without a
  /// unit. The estimate is a sum over all values (tensors) of the graph. For
  /// each value, the number of possible shardings is squared and multiplied by
  /// the number of operands that read the value. For example, a value with 10
  /// possible shardings that 3 operands read adds 10 · 10 · 3 = 300 to the sum.
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

  /// Returns whether this search would take minutes, because `work` exceeds
  /// `mostWorkOnMixing` and `pairsPerUse` exceeds `mostPairsPerUse`. The caller
  /// must then search with AxisAssignment::mixesDims = false. This leaves out
  /// most ways in which two parts of a mesh axis split two dims of an op.
  bool isTooLargeToMix() const {
    return work() > mostWorkOnMixing && pairsPerUse() > mostPairsPerUse;
  }

  /// Finds the cheapest plan and returns the cost of the plan. A plan contains
  /// one way of splitting for each op, argument and result of the graph. The
  /// function does not change the graph. The caller must call `choose` to apply
  /// the plan to the graph.
  ///
  /// `known` is the cost of a plan that the caller has already. The search may
  /// ignore each plan that costs `known` or more. If no plan costs less than
  /// `known`, the function may therefore find no plan. The default value of
  /// `known` sets no limit.
  ///
  /// In a large graph, the plan may not be the cheapest one.
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

  /// Emits an error and fails in three cases. Succeeds in all other cases.
  /// `solve` has searched for a plan that decides which dims the mesh axis of
  /// `assignment` splits. The cases are:
  ///
  /// - `solve` has found no plan, because no plan meets all requested
  ///   shardings.
  /// - The axis is `mb`, which cuts the batch into microbatches. An op needs
  ///   the whole batch, or the batch of an input of the model cannot be cut.
  /// - The plan contains an impossible reshard (change of sharding).
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
  /// Searches again, because the plan `best` breaks a rule. It needs an
  /// impossible reshard (change of sharding), or it does not split the batch of
  /// an input as StrategySpace::mustSplitBatch requires. Lowers `bound`, so
  /// that the search leaves out all plans that break a rule. The smaller search
  /// may find a plan that the first search missed. Replaces `best` if the new
  /// plan is cheaper.
  void avoidBrokenRules(plan::Assignment &best) {
    bound = std::min(bound, plan::Cost{.penalty = brokenRulePenalty});
    if (plan::Assignment other = minimise(/*mostSets=*/1);
        other.cost < best.cost)
      best = std::move(other);
  }

  /// Returns the best plan that variable elimination finds. In a large graph,
  /// it may not be the cheapest plan. A plan selects a way of splitting for
  /// each vertex of the graph, and a set of shardings for each value with
  /// several users. Ranks keep the value in all shardings of the set. The
  /// search considers all sets of one or two shardings. It adds the sets of
  /// three, then of four, and so on, while the value has at most `mostSets`
  /// sets in total. Sets that cannot lower the total cost do not count.
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

  /// Adds costs to `costs` that forbid plans in which a training step changes
  /// the sharding of a parameter. A training step reads a parameter with
  /// `graph.get_parameter` and writes the new value with `graph.set_parameter`.
  /// Both ops must use the same sharding. For example, if each rank reads half
  /// of the rows of a weight, each rank must also write half of the rows.
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
    /// Number of times that the value is produced, divided by the number of
    /// microbatches. The number is 1 if the value is produced once for each
    /// microbatch. Some values are produced only once per training step, such
    /// as a value of the optimizer update. If there are 4 microbatches, the
    /// number is 1/4 for these values. The cost of a reshard of the value is
    /// multiplied by this number.
    double frequency = 1;
    std::vector<dist::Sharding> forms;
    /// The shardings and the costs of this value, for the function
    /// plan::addSharedValue. The producer is the op or argument that makes the
    /// value. A user is an op or function result that reads the value. `forms`
    /// lists the shardings of the value, and the three tables in `shared`
    /// contain indices of this list:
    ///
    /// - `producedForm`: for each way of splitting the producer, the index of
    ///   the sharding in which the producer makes the value
    /// - `wantedForm`: for each user and each way of splitting this user, the
    ///   index of the sharding in which the user needs the value
    /// - `reform`: for each pair of indices, the cost of the reshard (change of
    ///   sharding) from the first sharding to the second
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

  /// Computes the costs of the reshards (changes of sharding) between the
  /// shardings in `value.forms`, and stores them in `value.shared.reform`. The
  /// search never uses reshards without a cost. A reshard has no cost if no
  /// user needs the new sharding, or if its bytes alone exceed `bound`. If
  /// `value` has more than 64 shardings, reshards that start from a sharding
  /// with a view (window of a dim) have no cost either, unless the producer
  /// makes this sharding. There would be too many reshards.
  void price(Value &value) const {
    const auto &forms = value.forms;
    std::vector<bool> isWanted(forms.size(), false),
        isProduced(forms.size(), false);
    for (uint32_t form : value.shared.producedForm)
      isProduced[form] = true;
    for (const plan::SharedValue::User &user : value.shared.users)
      for (uint32_t form : user.wantedForm)
        isWanted[form] = true;
    // Skip a reshard in which a rank receives more than `mostBytes` bytes.
    // Costs are compared by penalty, then by time, then by bytes. If `bound`
    // has no penalty and no time, a plan cheaper than `bound` has at most
    // `bound.bytes` bytes. Otherwise it may have any number of bytes, and
    // `mostBytes` is so large that no reshard reaches it.
    const double mostBytes = bound.penalty > 0 || bound.picoseconds > 0
                                 ? brokenRulePenalty
                                 : bound.bytes;
    std::vector<double> size;
    for (const dist::Sharding &form : forms)
      // Bytes of `value` that one rank stores in this sharding. If a rank has 4
      // bytes before a reshard and 10 bytes after it, the rank receives at
      // least 6 bytes. A sharding with a view (window of a dim) counts as 0
      // bytes, so that no reshard to it is skipped. Its window may contain
      // padding, which no rank sends.
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

  /// Returns whether the plan that `solve` found needs an impossible reshard
  /// (change of sharding) on `edge`. `edge` leads from the op that produces a
  /// value to an operand that reads the value. The plan determines two
  /// shardings: the sharding in which the value is produced, and the sharding
  /// in which the operand needs the value. The reshard from the first sharding
  /// to the second must be possible.
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
  /// By vertex: index of the choice that `solve` found, among all choices of
  /// the vertex.
  std::vector<unsigned> chosen;
};
} // namespace

/// Decides for one sub-axis (part of the mesh axis) of `assignment` after
/// another which dims of each op the sub-axis splits, and stores this in
/// `graph`. For example, the first sub-axis splits the rows of a weight, and
/// the second one splits the columns. Returns the cost of the plan. Its penalty
/// is the sum of the penalties for all sub-axes. Fails if the plan for a
/// sub-axis breaks a rule. `graph` then keeps the splits over earlier sub-axes,
/// so the caller must restore `graph`.
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
    // The first search, `together`, may miss the cheapest plan in a large
    // graph. Search again with fewer choices for the ops around the experts.
    // The axis may then split only the batch (`dp`, `mb`), the sequence or the
    // attention heads (`cp`), or the dim that counts experts, if the axis
    // divides experts. Use the new plan if it breaks no rule and the plan of
    // `together` is not cheaper.
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
    // Search again, but take one sub-axis of the axis after another. A sub-axis
    // is a part of a mesh axis. For example, the axis x of 4 ranks has two
    // sub-axes of 2 ranks. The first sub-axis may then split the rows of a
    // weight, and the second sub-axis may split the columns. This plan may be
    // cheaper than a plan in which the whole axis splits the rows.
    //
    // Only an axis with the role Free is searched again. An axis has this role
    // if its name is not `dp`, `mb`, `cp` or `tp`. Users expect that each of
    // these four axes splits one dim of an op as a whole. For example, the
    // whole axis `dp` splits the batch.
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
