//===- ExpertDims.cpp - dims of experts, and the ops around experts -------===//

#include "passes/4-shard/policy/ExpertDims.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/4-shard/policy/ContractionWeights.h"
#include "passes/plan/reshard/ExpertTraffic.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/Support/DebugLog.h"

#include <numeric>

#define DEBUG_TYPE "decide-shardings"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using DimFactors = graph::ShardingRule::DimFactors;

//===----------------------------------------------------------------------===//
// Which dims are experts
//===----------------------------------------------------------------------===//

/// Returns whether `value` is computed from indices that a topk or an
/// arg_reduce has chosen. Follows only integer operands.
static bool isSelection(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (isa<graph::ArgReduceOp>(op))
      return true;
    if (auto topk = dyn_cast<graph::TopKOp>(op)) {
      if (next == topk.getIndices())
        return true;
      continue;
    }
    for (Value operand : op->getOperands())
      if (isa<IntegerType>(graph::tensorType(operand).getElementType()))
        open.push_back(operand);
  }
  return false;
}

/// Returns the loop dims of `op` along which a router may have chosen experts:
/// the dim of a softmax, topk or arg_reduce. If the indices from a topk or
/// arg_reduce are an operand of a one_hot, scatter or comparison, returns the
/// dim to which these indices refer. An example is the dim `experts` of a
/// one_hot with the result [tokens, experts].
static SmallVector<int> routedFactors(const ShardedOp &op) {
  SmallVector<int> routed;
  auto add = [&](const graph::ShardingRule::TensorFactors &tensor,
                 int64_t dim) { llvm::append_range(routed, tensor[dim]); };
  const RefinedRule &rule = *op.rule;
  if (auto softmax = dyn_cast<graph::SoftmaxOp>(op.op))
    add(rule.operands[0], softmax.getDim());
  else if (auto topk = dyn_cast<graph::TopKOp>(op.op))
    add(rule.operands[0], topk.getDim());
  else if (auto reduce = dyn_cast<graph::ArgReduceOp>(op.op))
    add(rule.operands[0], reduce.getDim());
  else if (auto hot = dyn_cast<graph::OneHotOp>(op.op);
           hot && isSelection(hot.getIndices()))
    add(rule.results[0], hot.getDim());
  else if (auto scatter = dyn_cast<graph::ScatterElementsOp>(op.op);
           scatter && isSelection(scatter.getIndices()))
    add(rule.operands[0], scatter.getDim());
  else if (auto scatter = dyn_cast<graph::ScatterNdOp>(op.op);
           scatter && isSelection(scatter.getIndices()))
    for (int64_t
             dim = 0,
             depth = graph::tensorType(scatter.getIndices()).getShape().back();
         dim < depth; ++dim)
      add(rule.operands[0], dim);
  else if (isa<graph::CompareOp>(op.op))
    for (auto [numbers, indices] : {std::pair(0, 1), std::pair(1, 0)})
      if (isSelection(op.op->getOperand(indices)))
        for (const DimFactors &dim : rule.operands[numbers])
          for (int factor : dim)
            if (!graph::occursIn(rule.operands[indices], factor))
              routed.push_back(factor);
  return routed;
}

/// Returns the batch dims of a contraction with a weight, such as E in [E,C,D]
/// x [E,D,F], as loop dims of `op`. The result is empty if `op` is no
/// contraction with a weight.
static SmallVector<int> weightBatches(const ShardedOp &op) {
  SmallVector<int> batches;
  if (!isContraction(op.op) || op.op->getNumOperands() < 2)
    return batches;
  for (unsigned weight : {0, 1}) {
    if (!weightOf(op.op->getOperand(weight)))
      continue;
    for (const DimFactors &dim : op.rule->operands[weight])
      for (int factor : dim)
        if (graph::occursIn(op.rule->operands[1 - weight], factor) &&
            graph::occursIn(op.rule->results[0], factor))
          batches.push_back(factor);
  }
  return batches;
}

namespace {
/// Groups dims of different ops that stand for the same dim of a value, such as
/// the expert dim of a weight and of the matmul that reads it.
class JoinedFactors {
public:
  explicit JoinedFactors(const ShardedGraph &graph) : graph(graph) {
    unsigned count = 0;
    for (const ShardedOp &op : graph.ops) {
      first.push_back(count);
      count += op.rule->factors.size();
    }
    classes.grow(count);
    for (const auto &edges : graph.operands)
      for (const ShardedGraph::OperandEdge &edge : edges)
        join(edge);
    classes.compress();
  }

  /// Returns the number of classes. A class is a set of loop dims of different
  /// ops that stand for the same dim of a value.
  unsigned numClasses() const { return classes.getNumClasses(); }
  /// Returns the class, 0 to numClasses() - 1, of loop dim number `factor` of
  /// node `op`. Loop dims of one class stand for the same dim of a value.
  unsigned of(unsigned op, int factor) const {
    return classes[first[op] + factor];
  }

private:
  /// Joins the classes of equal loop dims of the producer and the user of a
  /// value. Several loop dims can form one dim of the value, such as 3 · 64 =
  /// 192. Loop dims of the producer and the user are equal if they form the
  /// same dim of the value, have the same size, and the loop dims before them
  /// in this dim have equal products. For example, the 64 in 3 · 64 equals the
  /// 64 in 3 · 64, but not the 64 in 64 · 3.
  void join(const ShardedGraph::OperandEdge &edge) {
    const RefinedRule &from = *graph.ops[edge.producer].rule,
                      &to = *graph.ops[edge.user].rule;
    for (auto [made, used] : llvm::zip_equal(from.results[edge.result],
                                             to.operands[edge.operand])) {
      int64_t beginMade = 1;
      for (int i : made) {
        int64_t beginUsed = 1;
        for (int j : used) {
          if (beginMade == beginUsed &&
              from.factors[i].size == to.factors[j].size)
            classes.join(first[edge.producer] + i, first[edge.user] + j);
          beginUsed *= to.factors[j].size;
        }
        beginMade *= from.factors[i].size;
      }
    }
  }

  const ShardedGraph &graph;
  /// first[v] is the number of the first loop dim of node v. The loop dims of
  /// all nodes are numbered one after another.
  std::vector<unsigned> first;
  llvm::IntEqClasses classes;
};
} // namespace

bool pcc::shard::tagExperts(ShardedGraph &graph) {
  JoinedFactors dims(graph);
  llvm::BitVector routed(dims.numClasses()), batches(dims.numClasses());
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    if (!graph.ops[i].op)
      continue;
    for (int factor : routedFactors(graph.ops[i]))
      routed.set(dims.of(i, factor));
    for (int factor : weightBatches(graph.ops[i]))
      batches.set(dims.of(i, factor));
  }
  routed &= batches;
  LDBG() << routed.count() << " dims of experts";
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    for (auto [factor, tag] : llvm::enumerate(graph.tags[i]))
      if (tag == FactorTag::None && routed.test(dims.of(i, factor)))
        tag = FactorTag::Expert;
  return routed.any();
}

//===----------------------------------------------------------------------===//
// The region of experts
//===----------------------------------------------------------------------===//

/// Returns the number of dims of a tensor that have more than one element.
static size_t numDims(const RefinedRule &rule,
                      const graph::ShardingRule::TensorFactors &tensor) {
  return llvm::count_if(tensor, [&](const DimFactors &dim) {
    return llvm::any_of(
        dim, [&](int factor) { return rule.factors[factor].size > 1; });
  });
}

/// Returns the sizes that determine the traffic between tokens and experts.
/// Node `index` is the op that adds the weighted expert outputs. Returns
/// std::nullopt for any other node, and without the option `--ep`.
static std::optional<plan::ExpertTraffic> trafficOf(const ShardedGraph &graph,
                                                    unsigned index) {
  Operation *sum = graph.ops[index].op;
  auto chosen =
      sum ? sum->getAttrOfType<IntegerAttr>(graph::chosenName) : nullptr;
  auto module = sum ? sum->getParentOfType<ModuleOp>() : nullptr;
  auto parts =
      module ? module->getAttrOfType<IntegerAttr>(dist::expertsName) : nullptr;
  if (!chosen || !parts)
    return {};
  plan::ExpertTraffic traffic{parts.getInt(), 1, chosen.getInt()};
  for (auto [factor, tag] :
       llvm::zip_equal(graph.ops[index].rule->factors, graph.tags[index]))
    if (tag == FactorTag::Expert)
      traffic.experts *= factor.size;
  auto gate = graph::tensorType(sum->getOperand(0));
  const double numGates = static_cast<double>(gate.getNumElements());
  traffic.gateBytes = graph::numBytes(gate) / numGates;
  traffic.tokenBytes = graph::numBytes(graph::tensorType(sum->getResult(0))) /
                       (numGates / static_cast<double>(traffic.experts));
  return traffic;
}

/// Removes the ops that compute gates from `inside`, the nodes of the expert
/// region. Gates are the weights in a sum of expert outputs. They are operand 0
/// of node `sum`. Goes from the gates to their producers, and on to the
/// producers of these. Stops at nodes outside of `inside`, and at the weighted
/// sums of earlier expert layers.
void ExpertRegion::leaveGates(const ShardedGraph &graph, unsigned sum) {
  SmallVector<unsigned> open;
  for (const ShardedGraph::OperandEdge &edge : graph.operands[sum])
    if (edge.operand == 0)
      open.push_back(edge.producer);
  while (!open.empty()) {
    const unsigned index = open.pop_back_val();
    Operation *op = graph.ops[index].op;
    if (!inside.test(index) || (op && op->hasAttr(graph::chosenName)))
      continue;
    inside.reset(index);
    for (const ShardedGraph::OperandEdge &edge : graph.operands[index])
      open.push_back(edge.producer);
  }
}

/// Visits users before producers: an op without an expert dim is in the region
/// only if all its users are in the region. Then removes ops that compute gates
/// (weights of expert outputs) if ranks exchange fewer bytes without these ops
/// in the region.
ExpertRegion::ExpertRegion(const ShardedGraph &graph)
    : inside(graph.ops.size()) {
  auto isInside = [&](const ShardedGraph::OperandEdge &edge) {
    return inside.test(edge.user);
  };
  for (unsigned i = graph.ops.size(); i-- > 0;) {
    if (graph.isArgument(i) || graph.isSink(i))
      continue;
    bool isNeeded = false, byOthers = false;
    for (const auto &edges : graph.users[i]) {
      isNeeded |= !edges.empty();
      byOthers |= !llvm::all_of(edges, isInside);
    }
    if (llvm::is_contained(graph.tags[i], FactorTag::Expert) ||
        (isNeeded && !byOthers))
      inside.set(i);
  }
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (auto traffic = trafficOf(graph, i);
        traffic && plan::paysToRouteFirst(*traffic))
      leaveGates(graph, i);
  addWeights(graph);
}

/// Finds the ops that must split a tensor along its expert dim. They are the
/// weighted sum of expert outputs, a contraction with an expert weight, and the
/// `graph.get_parameter` of an expert weight.
void ExpertRegion::addWeights(const ShardedGraph &graph) {
  auto expertsIn = [&](unsigned index,
                       const graph::ShardingRule::TensorFactors &dims) {
    for (const DimFactors &dim : dims)
      for (int factor : dim)
        if (graph.tags[index][factor] == FactorTag::Expert)
          return factor;
    return -1;
  };
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    const ShardedOp &op = graph.ops[i];
    if (!isContraction(op.op))
      continue;
    // `graph.chosen` marks the weighted sum of expert outputs. Operand 1
    // contains the outputs. If ranks did not split operand 1 by experts, they
    // would exchange the outputs of all experts.
    if (op.op->hasAttr(graph::chosenName))
      if (int factor = expertsIn(i, op.rule->operands[0]); factor >= 0)
        weights[i] = {graph::numBytes(graph::tensorType(op.op->getOperand(1))),
                      factor};
    for (OpOperand &operand : op.op->getOpOperands()) {
      graph::GetParameterOp weight = weightOf(operand.get());
      const auto &dims = op.rule->operands[operand.getOperandNumber()];
      // An expert weight has at least three dims, such as [experts, features,
      // width]. The condition on numDims() excludes the weight of a router,
      // [features, experts].
      int factor = expertsIn(i, dims);
      if (!weight || factor < 0 || numDims(*op.rule, dims) < 3)
        continue;
      auto type = graph::tensorType(weight.getResult());
      const double bytes = graph::numBytes(type);
      unsigned leaf = graph.opOf(weight.getResult());
      weights[i] = {bytes, factor};
      weights[leaf] = {bytes,
                       expertsIn(leaf, graph.ops[leaf].rule->results[0])};
    }
  }
}

double ExpertRegion::undividedBytes(unsigned index, const ShardedOp &before,
                                    const ShardedOp &after,
                                    const dist::SubAxis &axis) const {
  Weight weight = weights.lookup(index);
  if (weight.factor < 0)
    return 0;
  bool fits = dist::numParts(before.axes[weight.factor]) * axis.size <=
              before.rule->factors[weight.factor].size;
  bool divides = llvm::is_contained(after.axes[weight.factor], axis);
  return fits && !divides ? weight.bytes : 0;
}
