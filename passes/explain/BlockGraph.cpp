//===- BlockGraph.cpp - graph of a block with its shardings ---------------===//

#include "passes/explain/BlockGraph.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

/// `mostNodes`: largest number of nodes in one graph. `mostGraphs`: largest
/// number of graphs that graphsOf() returns.
static constexpr size_t mostNodes = 120, mostGraphs = 4;

namespace {
/// Builds the graph of one block, op by op.
class GraphBuilder {
public:
  explicit GraphBuilder(const emit::ModelFacts &facts) : facts(facts) {}

  /// Adds an op of the block. The ops of the block that compute its operands
  /// must have been added before.
  void add(Operation &op, int64_t stage) {
    if (graph.nodes.size() >= mostNodes) {
      ++graph.leftOut;
      return;
    }
    BlockNode node = describe(op);
    node.stage = stage;
    for (Value operand : op.getOperands())
      node.operands.push_back(numberOf(operand, stage));
    for (Value result : op.getResults())
      numbers[result] = graph.nodes.size();
    graph.nodes.push_back(std::move(node));
  }

  /// Returns the graph, which is then complete. `isInside` tells which ops
  /// belong to the block. Marks the nodes whose results ops outside of the
  /// block read.
  BlockGraph finish(llvm::function_ref<bool(Operation *)> isInside) {
    for (auto [value, number] : numbers)
      if (value.getDefiningOp() && isInside(value.getDefiningOp()))
        graph.nodes[number].isReadOutside |=
            llvm::any_of(value.getUsers(), [&](Operation *user) {
              return !isInside(user) &&
                     !user->hasTrait<OpTrait::IsTerminator>();
            });
    return std::move(graph);
  }

private:
  BlockNode describe(Operation &op) const {
    BlockNode node{"op", op.getName().stripDialect().str(),
                   graph::nodeName(op.getLoc()).str(), "", ""};
    if (auto weight = dyn_cast<graph::GetParameterOp>(op)) {
      node.kind = node.op = "weight";
      node.name = weight.getParameter().str();
    } else if (auto collective = dyn_cast<dist::CollectiveOp>(op)) {
      const bool communicates = facts.groupOf(collective) >= 0;
      node.kind = communicates ? "collective" : "op";
      node.op = std::string(dist::toString(collective.getKind()));
    }
    if (op.getNumResults() > 0)
      describe(op.getResult(0), node);
    return node;
  }

  void describe(Value value, BlockNode &node) const {
    if (auto sharding = dist::shardingOf(value))
      node.sharding = dist::toBriefString(
          dist::withoutTime(sharding.getSharding()), facts.mesh.shardingMesh());
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    llvm::raw_string_ostream text(node.type);
    text << type.getElementType() << "[";
    llvm::interleaveComma(type.getShape(), text);
    text << "]";
  }

  /// Returns the number of the node that computes `value`. If no node computes
  /// `value`, because the value comes from outside of the block, adds a node
  /// for the value and returns its number.
  size_t numberOf(Value value, int64_t stage) {
    auto [found, isNew] = numbers.insert({value, graph.nodes.size()});
    if (!isNew)
      return found->second;
    BlockNode node{"outside", "", "", "", ""};
    Operation *op = value.getDefiningOp();
    if (op)
      node = describe(*op);
    if (node.kind != "weight")
      node.kind = "outside";
    if (!op)
      describe(value, node);
    node.stage = stage;
    graph.nodes.push_back(std::move(node));
    return graph.nodes.size() - 1;
  }

  const emit::ModelFacts &facts;
  BlockGraph graph;
  llvm::MapVector<Value, size_t> numbers;
};
} // namespace

/// Returns a text that is equal for two graphs if their nodes differ only in
/// names and stages.
static std::string shapeOf(const BlockGraph &graph) {
  std::string text;
  for (const BlockNode &node : graph.nodes) {
    text += node.kind + " " + node.op + " " + node.sharding + node.type;
    for (size_t operand : node.operands)
      text += " " + std::to_string(operand);
    text += "\n";
  }
  return text;
}

/// Returns the forward ops for which `isInside` is true, as a graph.
static BlockGraph graphOf(const emit::ModelFacts &facts,
                          llvm::function_ref<bool(Operation *)> isInside) {
  GraphBuilder builder(facts);
  for (int stage = 0; stage < facts.numStages(); ++stage)
    for (func::FuncOp function : facts.functions[stage]) {
      if (pipe::actionOf(function) != "F")
        continue;
      for (Operation &op : function.front().without_terminator())
        if (isInside(&op))
          builder.add(op, stage);
    }
  return builder.finish(isInside);
}

std::vector<BlockGraph> explain::graphsOf(const emit::ModelFacts &facts,
                                          const ModelBlocks &blocks) {
  if (blocks.names().empty())
    return {graphOf(facts, [](Operation *) { return true; })};
  std::vector<BlockGraph> graphs;
  std::map<std::string, size_t> numberOfShape;
  for (size_t i = 0; i < blocks.names().size(); ++i) {
    BlockGraph graph = graphOf(facts, [&](Operation *op) {
      return blocks.numberOf(op) == static_cast<int>(i);
    });
    graph.name = blocks.names()[i];
    auto [found, isNew] = numberOfShape.insert({shapeOf(graph), graphs.size()});
    if (isNew)
      graphs.push_back(std::move(graph));
    else
      ++graphs[found->second].count;
  }
  llvm::stable_sort(graphs, [](const BlockGraph &a, const BlockGraph &b) {
    return a.count > b.count;
  });
  if (graphs.size() > mostGraphs)
    graphs.resize(mostGraphs);
  return graphs;
}
