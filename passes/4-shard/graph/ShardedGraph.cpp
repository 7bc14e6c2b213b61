//===- ShardedGraph.cpp - ops and values of a function, as a graph --------===//

#include "passes/4-shard/graph/ShardedGraph.h"
#include "dialects/graph/rules/RuleBuilders.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

ShardedGraph::ShardedGraph(func::FuncOp function, const Seeds &seeds)
    : function(function), seeds(&seeds), parts(function.front()),
      trains(graph::isTraining(function.front())) {
  findSeededReads();
  for (Value argument : function.getArguments())
    addSource(argument);
  numArguments = ops.size();
  for (Operation &op : function.front().without_terminator())
    addOp(&op);
  for (auto [i, result] :
       llvm::enumerate(function.front().getTerminator()->getOperands()))
    addSink(result, seeds.findOutput(i));
  findWrites();
}

void ShardedGraph::findSumsInTime() {
  sumsInTime.resize(ops.size());
  for (unsigned i = 0; trains && i < ops.size(); ++i) {
    const bool sums = llvm::any_of(
        llvm::zip_equal(tags[i], ops[i].rule->factors), [](const auto &pair) {
          const auto &[tag, factor] = pair;
          return tag == FactorTag::Batch &&
                 factor.kind == graph::FactorKind::Sum;
        });
    const bool passes =
        !ops[i].rule->partialThrough.empty() && readsSumsInTime(i);
    if ((sums || passes) && !isa_and_nonnull<graph::AccumulateOp>(ops[i].op))
      sumsInTime.set(i);
  }
}

void ShardedGraph::findSeededReads() {
  for (auto get : function.front().getOps<graph::GetParameterOp>())
    if (const Seed *seed = seeds->find(get.getResult()))
      seededReads[{get.getParameter(), pipe::stageOf(get)}] = seed;
}

const Seed *ShardedGraph::leafSeedOf(Operation *op) const {
  if (auto set = dyn_cast<graph::SetParameterOp>(op)) {
    auto it = seededReads.find({set.getParameter(), pipe::stageOf(set)});
    return it == seededReads.end() ? nullptr : it->second;
  }
  return op->getNumOperands() == 0 && op->getNumResults() > 0
             ? seeds->find(op->getResult(0))
             : nullptr;
}

void ShardedGraph::findWrites() {
  std::map<std::pair<StringRef, int64_t>, SmallVector<unsigned>> reads;
  for (unsigned i = 0; i < ops.size(); ++i)
    if (auto get = dyn_cast_or_null<graph::GetParameterOp>(ops[i].op))
      reads[{get.getParameter(), pipe::stageOf(get)}].push_back(i);
  for (unsigned i = 0; i < ops.size(); ++i)
    if (auto set = dyn_cast_or_null<graph::SetParameterOp>(ops[i].op))
      for (unsigned read : reads[{set.getParameter(), pipe::stageOf(set)}])
        readsAndWrites.push_back({read, i});
}

Value ShardedGraph::valueOf(unsigned op, unsigned result) const {
  if (Value pinned = pinnedValues.lookup(op))
    return pinned;
  return isArgument(op) ? Value(function.getArgument(op))
                        : Value(ops[op].op->getResult(result));
}

/// Adds the dims of a tensor to `rule`, and returns the loop dims of each dim.
/// A dim has several loop dims only if the user-set sharding `seed` divides it.
static graph::ShardingRule::TensorFactors
addDims(graph::ShardingRule &rule, RankedTensorType type, const Seed *seed) {
  if (!seed)
    return graph::addDims(rule, type.getShape());
  graph::ShardingRule::TensorFactors dims(type.getRank());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (type.getDimSize(i) == 0)
      continue;
    else if (seed->sharding.dims[i].factors.empty())
      dim.push_back(rule.add(type.getDimSize(i)));
    else
      for (const dist::Factor &factor : seed->sharding.dims[i].factors)
        dim.push_back(rule.add(factor.size));
  return dims;
}

void ShardedGraph::addVertex(Operation *op, RefinedRule rule,
                             unsigned numResults, const Seed *seed) {
  if (seed) {
    pins[ops.size()] = seed;
    // refine() must not divide a loop dim that the user's sharding splits, such
    // as 8 into 2 and 4. If ranks then split only the 4, the elements of a rank
    // are not contiguous.
    const auto &dims =
        rule.results.empty() ? rule.operands[0] : rule.results[0];
    for (auto [dim, wanted] : llvm::zip_equal(dims, seed->sharding.dims))
      for (auto [factor, split] : llvm::zip(dim, wanted.factors))
        rule.factors[factor].mustBeContiguous = !split.axes.empty();
  }
  ops.emplace_back(op, std::make_shared<RefinedRule>(std::move(rule)));
  operands.emplace_back();
  users.emplace_back(numResults);
}

void ShardedGraph::addSource(Value argument) {
  const Seed *seed = seeds->find(argument);
  graph::ShardingRule rule;
  rule.results.push_back(addDims(rule, graph::tensorType(argument), seed));
  producers[argument] = {ops.size(), 0};
  addVertex(nullptr, RefinedRule(std::move(rule)), 1, seed);
}

void ShardedGraph::addOp(Operation *op) {
  for (OpResult result : op->getResults())
    producers[result] = {ops.size(), result.getResultNumber()};
  RefinedRule rule(ruleOf(op));
  const Seed *own = leafSeedOf(op);
  if (own)
    refineLike(rule, rule.results.empty() ? rule.operands[0] : rule.results[0],
               own->sharding);
  addVertex(op, std::move(rule), op->getNumResults(), own);
  connect(ops.size() - 1, op->getOperands());
  if (op->getNumOperands() > 0 && op->getNumResults() > 0)
    if (const Seed *seed = seeds->find(op->getResult(0)))
      addPin(op->getResult(0), *seed);
}

void ShardedGraph::addPin(Value value, const Seed &seed) {
  graph::ShardingRule rule;
  rule.operands.push_back(addDims(rule, graph::tensorType(value), &seed));
  rule.results.push_back(rule.operands[0]);
  addVertex(nullptr, RefinedRule(std::move(rule)), 1, &seed);
  connect(ops.size() - 1, value);
  pinnedValues[ops.size() - 1] = value;
  producers[value] = {ops.size() - 1, 0};
}

void ShardedGraph::addSink(Value value, const Seed *seed) {
  graph::ShardingRule rule;
  rule.operands.push_back(addDims(rule, graph::tensorType(value), seed));
  addVertex(nullptr, RefinedRule(std::move(rule)), 0, seed);
  connect(ops.size() - 1, value);
  ++numSinks;
}

void ShardedGraph::connect(unsigned user, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    auto [producer, result] = producers.lookup(value);
    OperandEdge edge{producer, result, user, static_cast<unsigned>(i)};
    operands[user].push_back(edge);
    users[producer][result].push_back(edge);
  }
}
