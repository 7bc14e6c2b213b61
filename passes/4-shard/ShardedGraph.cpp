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
  propagateTags();
}

Value ShardedGraph::valueOf(unsigned op, unsigned result) const {
  return isArgument(op) ? Value(function.getArgument(op))
                        : Value(ops[op].op->getResult(result));
}

void ShardedGraph::addSource(Value argument) {
  graph::ShardingRule rule;
  rule.results.push_back(addDims(rule, graph::tensorType(argument).getShape()));
  producers[argument] = ops.size();
  ops.emplace_back(nullptr, std::move(rule));
  operands.emplace_back();
  users.emplace_back(1);
}

void ShardedGraph::addOp(Operation *op) {
  for (Value result : op->getResults())
    producers[result] = ops.size();
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  // A transfer moves its operand as it is: everything may be split, nothing may
  // be partial.
  ops.emplace_back(op,
                   ruled ? ruled.getShardingRule() : graph::sameShapeRule(op));
  operands.emplace_back();
  users.emplace_back(op->getNumResults());
  connect(ops.size() - 1, op->getOperands());
}

void ShardedGraph::addSink(Value value) {
  graph::ShardingRule rule;
  rule.operands.push_back(addDims(rule, graph::tensorType(value).getShape()));
  ops.emplace_back(nullptr, std::move(rule));
  operands.emplace_back();
  users.emplace_back();
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

namespace {
/// Where in a dim tagged factors begin: the product of the factors before them,
/// and their size.
struct TaggedPart {
  int64_t begin, size;
  Tag tag;
};
} // namespace

static SmallVector<TaggedPart>
partsOf(const ShardedOp &op, const graph::ShardingRule::DimFactors &dim) {
  SmallVector<TaggedPart> parts;
  int64_t begin = 1;
  for (int factor : dim) {
    parts.push_back({begin, op.rule.factors[factor].size, op.tags[factor]});
    begin *= op.rule.factors[factor].size;
  }
  return parts;
}

/// Gives the factors of `dim` the tags of the parts that begin where they
/// begin.
static void takeTags(ShardedOp &op, const graph::ShardingRule::DimFactors &dim,
                     ArrayRef<TaggedPart> parts) {
  int64_t begin = 1;
  for (int factor : dim) {
    for (const TaggedPart &part : parts)
      if (part.begin == begin && part.tag != Tag::None)
        op.tags[factor] = part.tag;
    begin *= op.rule.factors[factor].size;
  }
}

void ShardedGraph::propagateTags() {
  auto tagArgument = [&](unsigned i, StringRef name, Tag tag) {
    if (auto dim = function.getArgAttrOfType<IntegerAttr>(i, name))
      for (int factor : ops[i].rule.results[0][dim.getInt()])
        ops[i].tags[factor] = tag;
  };
  for (unsigned i = 0; i < numArguments; ++i) {
    tagArgument(i, "graph.sequence_dim", Tag::Sequence);
    tagArgument(i, "graph.batch_dim", Tag::Batch);
  }
  for (unsigned user = numArguments; user < ops.size(); ++user)
    for (const Edge &edge : operands[user]) {
      const auto &from = ops[edge.producer].rule.results[edge.result];
      const auto &to = ops[user].rule.operands[edge.operand];
      for (auto [produced, used] : llvm::zip_equal(from, to))
        takeTags(ops[user], used, partsOf(ops[edge.producer], produced));
    }
}
