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

/// Returns whether `value` depends on indices that a topk or an arg_reduce has
/// chosen. For example, topk returns the indices of the largest scores, and
/// `value` is a reshape of these indices. The function goes backward from
/// `value` to the operands of the op that computes it, then to their operands,
/// and so on. It follows only operands with integer elements.
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

/// Returns the factors (dims or parts of dims) of `op` along which a router may
/// have chosen experts. Chosen indices come from a topk or an arg_reduce.
///
///   op                                     returned factors
///   softmax, topk, arg_reduce              the dim along which the op works
///   one_hot of chosen indices              the new dim of the result
///   scatter_elements with chosen indices   the dim to which the indices refer
///   scatter_nd with chosen indices         all dims to which the indices refer
///   compare of numbers, chosen indices     the dims that only the numbers have
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

/// Returns the factors (dims, or parts of dims) that a weight, the other
/// operand and the result of the contraction `op` have in common. An example is
/// E in [E, C, D] x [E, D, F]. Returns none if `op` is no contraction with a
/// weight.
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
/// Groups the factors (dims, or parts of dims) of all ops into classes. Two
/// factors are in one class if they stand for the same dim of a value that one
/// op produces and another op reads. For example, the expert dim of a weight
/// and the expert dim of the matmul that reads it are in one class.
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

  /// Returns the number of classes. A class is a set of factors (dims, or parts
  /// of dims) of different ops that stand for the same dim of a value.
  unsigned numClasses() const { return classes.getNumClasses(); }
  /// Returns the index of the class that contains factor number `factor` of
  /// vertex `op` of the graph. A factor is a dim of an op, or part of a dim. A
  /// class is a set of factors of several ops that stand for the same dim of a
  /// value. For example, the result of a matmul is the operand of a softmax.
  /// The dim of tokens is a factor of both ops, and the function returns one
  /// index for both factors. The indices are 0 to numClasses() - 1.
  unsigned of(unsigned op, int factor) const {
    return classes[first[op] + factor];
  }

private:
  /// Compares the two ops of `edge`, the producer and a user of a value. Each
  /// op cuts a dim of the value into factors. The function puts equal factors
  /// into one class, which is a set of factors. Two factors of one dim are
  /// equal if they have the same size, and if the factors to their left have
  /// the same product.
  ///
  /// Example: a dim of 24 elements has the factors 4 and 6 in the producer, and
  /// the factors 4, 2 and 3 in the user. The two factors of size 4 are equal.
  /// The factors 6, 2 and 3 are equal to no other factor.
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
  /// first[v] is the number of the first factor (dim, or part of a dim) of
  /// vertex v. The factors of all vertices are numbered one after another.
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

/// Returns the sizes that determine how many bytes ranks exchange when they
/// send tokens to experts and back. Examples are the number of experts and the
/// bytes of one token. Vertex `index` of the graph is the op that adds the
/// weighted outputs of the experts. Returns std::nullopt in two cases:
///
/// - The vertex has no attribute `graph.chosen`. The attribute is the largest
///   number of experts that one token chooses.
/// - The user did not give the option `--ep`. The option is the number of parts
///   into which ranks divide the experts.
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

/// Removes the ops that compute gates from `inside`, the set of the ops in the
/// expert region. Gates are the weights in a weighted sum of the outputs of
/// experts. Vertex `sum` is this weighted sum, and its operand 0 contains the
/// gates.
///
/// The function visits the op that produces operand 0, then the ops that
/// produce the operands of the visited op, and so on backward. It removes each
/// visited op from `inside`. It does not visit ops that are not in `inside`. It
/// does not visit the weighted sums of earlier mixture-of-experts layers.
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

/// Finds the vertices in the expert region (see ExpertRegion). Visits the users
/// of a vertex before the vertex, because a vertex without a dim that counts
/// experts is in the region only if all its users are. Then removes the ops
/// that compute gates if ranks exchange fewer bytes without them. Gates are the
/// weights in a weighted sum of the outputs of experts.
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

/// Finds three kinds of ops. Each of them must split a tensor along the dim
/// that counts experts. An expert weight is a weight tensor that has such a
/// dim, for example [8 experts, 64, 256].
///
///   op                                           tensor that the op must split
///   weighted sum of the outputs of experts       the outputs of the experts
///   contraction (matmul) with an expert weight   the expert weight
///   `graph.get_parameter` of an expert weight    the expert weight
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
    // The attribute `graph.chosen` marks an op that adds the weighted outputs
    // of the experts that a token chose. Operand 1 contains the outputs of all
    // experts. Ranks must split this operand along the dim that counts experts.
    // Otherwise ranks would exchange the outputs of all experts.
    if (op.op->hasAttr(graph::chosenName))
      if (int factor = expertsIn(i, op.rule->operands[0]); factor >= 0)
        weights[i] = {graph::numBytes(graph::tensorType(op.op->getOperand(1))),
                      factor};
    for (OpOperand &operand : op.op->getOpOperands()) {
      graph::GetParameterOp weight = weightOf(operand.get());
      const auto &dims = op.rule->operands[operand.getOperandNumber()];
      // A router computes a score of each expert. A matmul with a weight of
      // shape [features, experts] computes the scores. Like a weight of the
      // experts, this weight has a dim that counts experts. The test of numDims
      // skips it, because it has only two dims. A weight of the experts has at
      // least three dims, for example [8 experts, 64, 256].
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
