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

/// Fills `sumsInTime` with the vertices whose result may be a sum over the
/// samples of one microbatch only, such as the gradient of a weight. The op of
/// the vertex sums over samples, or it reads a result of another vertex in the
/// set and may pass a partial sum on (`partialThrough` is not empty). A
/// `graph.accumulate` is never in the set, because it adds the sums of all
/// microbatches. The set is empty if the function is not a training step.
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

/// Adds the dims of a tensor to `rule`, as factors (dims, or parts of dims).
/// Returns the factors of each dim. If `seed` (a requested sharding) divides a
/// dim of 12 into parts of 3 and 4, its factors are 3 and 4. Otherwise the dim
/// is one factor of 12.
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
    // A seed is a requested sharding. If an axis splits a factor (dim, or part
    // of a dim) in `seed`, each rank must have one contiguous range of this
    // factor. Example: 2 ranks split 8 elements, and rank 0 must have elements
    // 0 to 3. If the function `refine` divided the factor 8 into 2 and 4, the
    // ranks could split the factor 4 instead. Rank 0 would then have elements
    // 0, 1, 4 and 5. Therefore the factor is marked with `mustBeContiguous`,
    // and `refine` does not divide it.
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
