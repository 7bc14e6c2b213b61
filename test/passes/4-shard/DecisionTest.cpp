//===- DecisionTest.cpp - no plan is cheaper than the one decided on ------===//
//
// Enumerates all plans of small graphs: any choice of every op, with the
// reshards of each value in the cheapest order. Only the list of choices of an
// op and the price of one reshard are those of the tested code.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/graph/InnerExchanges.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "passes/4-shard/search/StrategySpace.h"
#include "test/passes/4-shard/RandomFunction.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

namespace {

/// Returns all orders of the axes, each assigned at once or in its prime parts.
std::vector<std::vector<AxisAssignment>> allOrders(const dist::Mesh &mesh,
                                                   const Seeds &seeds) {
  std::vector<size_t> order(mesh.axes.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::vector<std::vector<AxisAssignment>> orders;
  do {
    std::vector<AxisAssignment> together, apart;
    for (size_t i : order) {
      together.push_back({seeds.partsOf(mesh.axes[i]), AxisRole::Free});
      for (const dist::SubAxis &part : together.back().parts)
        apart.push_back({{part}, AxisRole::Free});
    }
    orders.push_back(std::move(together));
    orders.push_back(std::move(apart));
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

bool isLess(const plan::Cost &a, const plan::Cost &b) {
  return std::tuple(a.penalty, a.bytes, a.calls) <
         std::tuple(b.penalty, b.bytes, b.calls);
}

/// Enumerates plans op by op. Stops a branch when its certain cost reaches that
/// of the cheapest plan so far.
class Enumeration {
public:
  Enumeration(const ShardedGraph &graph, const StrategySpace &space,
              plan::ReshardPlanner &planner)
      : graph(graph), space(space), planner(planner), chosen(graph.ops.size()) {
  }

  /// Returns whether fewer than `limit` plans exist.
  bool isSmall(double limit) const {
    double plans = 1;
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      plans *= static_cast<double>(space.choicesOf(op).size());
    return plans <= limit;
  }

  plan::Cost least(const plan::Cost &known) {
    best = known;
    descend(0, {});
    return best;
  }

private:
  const OpChoice &choice(unsigned op) const {
    return space.choicesOf(op)[chosen[op]];
  }

  /// Returns the cost of the cheapest order in which the shardings that users
  /// before `end` need can be made, each from any that exists by then.
  plan::Cost costOfValue(unsigned op, unsigned result, unsigned end) const {
    std::vector<dist::Sharding> made{choice(op).results[result]}, wanted;
    for (const ShardedGraph::OperandEdge &edge : graph.users[op][result])
      if (edge.user < end) {
        const dist::Sharding &form = choice(edge.user).operands[edge.operand];
        if (form != made.front() && !llvm::is_contained(wanted, form))
          wanted.push_back(form);
      }
    return cheapestOrder(made, wanted,
                         graph::tensorType(graph.valueOf(op, result)));
  }

  plan::Cost cheapestOrder(const std::vector<dist::Sharding> &made,
                           const std::vector<dist::Sharding> &wanted,
                           RankedTensorType type) const {
    if (wanted.empty())
      return {};
    plan::Cost least = plan::Cost::forbidden();
    for (size_t i = 0; i < wanted.size(); ++i) {
      plan::Cost price = plan::Cost::forbidden();
      for (const dist::Sharding &from : made)
        price = std::min(price, priceOf(planner, type, from, wanted[i]));
      auto more = made, rest = wanted;
      more.push_back(wanted[i]);
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
      least = std::min(least, price + cheapestOrder(more, rest, type));
    }
    return least;
  }

  void descend(unsigned op, const plan::Cost &before) {
    if (op == graph.ops.size()) {
      best = before;
      return;
    }
    for (chosen[op] = 0; chosen[op] < space.choicesOf(op).size();
         ++chosen[op]) {
      // The cost of a value is added when its last user is chosen.
      plan::Cost cost = before + choice(op).cost;
      for (const ShardedGraph::OperandEdge &edge : graph.operands[op])
        if (const auto &users = graph.users[edge.producer][edge.result];
            users.back().user == op && users.back().operand == edge.operand)
          cost += costOfValue(edge.producer, edge.result, op + 1);
      if (isLess(cost, best))
        descend(op + 1, cost);
    }
  }

  const ShardedGraph &graph;
  const StrategySpace &space;
  plan::ReshardPlanner &planner;
  std::vector<unsigned> chosen;
  plan::Cost best;
};

/// Returns the cost of the reshards and of the inner values of a sharded
/// function.
plan::Cost costOf(func::FuncOp function, plan::ReshardPlanner &planner) {
  plan::Cost cost;
  for (Operation &op : function.front())
    if (auto reshard = dyn_cast<dist::ReshardOp>(op)) {
      const plan::ReshardPlan &plan = planner.plan(
          reshard.getFrom().getSharding(), reshard.getTo().getSharding(),
          dist::shapeOf(reshard.getType().getShape()), 4);
      EXPECT_TRUE(plan.possible()) << plan.error;
      cost.bytes += static_cast<double>(plan.receivedBytes);
      cost.calls += plan.calls;
    } else if (auto recorded = readShardedOp(&op)) {
      cost += innerCost(*recorded, planner);
    }
  return cost;
}

class Decision : public testing::Test {
protected:
  Decision() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect, graph::GraphDialect,
                        dist::DistDialect, pipe::PipeDialect>();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module;
  }

  MLIRContext context;
};

TEST_F(Decision, NoPlanOfASmallGraphIsCheaper) {
  int numCompared = 0, numFree = 0;
  for (uint64_t seed = 0; numCompared < 500; ++seed) {
    const std::string text = randomFunction(seed);
    auto original = parse(text), decided = parse(text);
    auto function = *original->getOps<func::FuncOp>().begin();
    const dist::Mesh mesh = dist::meshOf(*original);
    auto seeds = Seeds::resolve(function, mesh);
    ASSERT_TRUE(succeeded(seeds)) << text;
    ShardedGraph graph(function, *seeds);
    graph.refine();
    plan::ReshardPlanner planner(mesh);
    StrategySpace space(graph, allOrders(mesh, *seeds), {}, *seeds, planner);
    Enumeration plans(graph, space, planner);
    if (!plans.isSmall(1e5))
      continue;
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createDecideShardings());
    passes.addNestedPass<func::FuncOp>(createInsertReshards());
    ASSERT_TRUE(succeeded(passes.run(*decided))) << text;
    const plan::Cost cost =
        costOf(*decided->getOps<func::FuncOp>().begin(), planner);
    const plan::Cost least = plans.least(cost);
    EXPECT_FALSE(isLess(least, cost))
        << "seed " << seed << ": " << cost.bytes << " bytes in " << cost.calls
        << " calls, but " << least.bytes << " in " << least.calls
        << " are enough\n"
        << text;
    ++numCompared;
    numFree += cost.bytes == 0;
  }
  // Most graphs have to communicate.
  EXPECT_LT(numFree, 250);
}

TEST_F(Decision, PartsOfAnAxisAreInDimsApartOnlyIfTheyMayBe) {
  auto module = parse(R"mlir(module attributes {dist.mesh = #dist.mesh<a = 4>} {
    func.func @main(%0: tensor<2x2xf32> {graph.name = "x"}) {
      %1 = graph.relu %0 : tensor<2x2xf32>
      %2 = graph.reshape %1 : tensor<2x2xf32> to tensor<4xf32>
      return
    }
  })mlir");
  auto function = *module->getOps<func::FuncOp>().begin();
  const dist::Mesh mesh = dist::meshOf(*module);
  auto seeds = Seeds::resolve(function, mesh);
  ASSERT_TRUE(succeeded(seeds));
  ShardedGraph graph(function, *seeds);
  graph.refine();
  plan::ReshardPlanner planner(mesh);
  auto numIn4 = [&](unsigned op, bool mixesDims) {
    AxisAssignment assignment{seeds->partsOf(mesh.axes[0]), AxisRole::Free};
    assignment.mixesDims = mixesDims;
    StrategySpace space(graph, {{assignment}}, {}, *seeds, planner);
    return llvm::count_if(space.choicesOf(op), [](const OpChoice &choice) {
      return dist::numParts(dist::splitAxes(choice.results[0])) == 4;
    });
  };
  ASSERT_TRUE(isa<graph::ReshapeOp>(graph.ops[2].op));
  EXPECT_EQ(numIn4(1, true), 2);
  EXPECT_EQ(numIn4(1, false), 0);
  EXPECT_EQ(numIn4(2, true), 2);
  EXPECT_EQ(numIn4(2, false), 1) << "what is one dim behind the reshape";
}

} // namespace
