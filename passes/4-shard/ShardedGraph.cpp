//===- ShardedGraph.cpp - all ops of a function while axes are handed out -===//

#include "passes/4-shard/ShardedGraph.h"
#include "dialects/graph/rules/RuleBuilders.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

ShardedGraph::ShardedGraph(func::FuncOp function) : function(function) {
  for (Value argument : function.getArguments())
    addSource(argument);
  numArguments = ops.size();
  for (Operation &op : function.front().without_terminator())
    addOp(&op);
  for (Value result : function.front().getTerminator()->getOperands())
    addSink(result);
}

Value ShardedGraph::valueOf(unsigned op, unsigned result) const {
  return isArgument(op) ? Value(function.getArgument(op))
                        : Value(ops[op].op->getResult(result));
}

void ShardedGraph::addVertex(Operation *op, graph::ShardingRule rule,
                             unsigned numResults) {
  ops.emplace_back(op, std::make_shared<RefinedRule>(std::move(rule)));
  operands.emplace_back();
  users.emplace_back(numResults);
}

void ShardedGraph::addSource(Value argument) {
  graph::ShardingRule rule;
  rule.results.push_back(addDims(rule, graph::tensorType(argument).getShape()));
  producers[argument] = ops.size();
  addVertex(nullptr, std::move(rule), 1);
}

void ShardedGraph::addOp(Operation *op) {
  for (Value result : op->getResults())
    producers[result] = ops.size();
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  // A transfer moves its operand as it is: everything may be split, nothing may
  // be partial.
  addVertex(op, ruled ? ruled.getShardingRule() : graph::sameShapeRule(op),
            op->getNumResults());
  connect(ops.size() - 1, op->getOperands());
}

void ShardedGraph::addSink(Value value) {
  graph::ShardingRule rule;
  rule.operands.push_back(addDims(rule, graph::tensorType(value).getShape()));
  addVertex(nullptr, std::move(rule), 0);
  connect(ops.size() - 1, value);
  ++numSinks;
}

void ShardedGraph::connect(unsigned user, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    unsigned producer = producers.lookup(value);
    unsigned result =
        isa<OpResult>(value) ? cast<OpResult>(value).getResultNumber() : 0;
    Edge edge{producer, result, user, static_cast<unsigned>(i)};
    operands[user].push_back(edge);
    users[producer][result].push_back(edge);
  }
}
