//===- ForwardChain.cpp - forward ops as a chain to cut into stages -------===//

#include "passes/3-place/ForwardChain.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "dialects/graph/TensorBytes.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

/// Weights with at most this number of elements are small. If a small weight is
/// not trained, the cheap ops that read it may run on several stages.
static constexpr int64_t smallWeight = 4096;

static double bytesOf(Value value) {
  return graph::numBytes(graph::tensorType(value));
}

/// Returns the number of elements that `op` reads and writes. For example, the
/// addition of two matrices [2, 3] reads 6 + 6 elements and writes 6, so the
/// function returns 18. Returns 0 for the op `dist.pin`, a sharding constraint
/// for a value, because this op is erased before the program runs.
static double elementsMoved(Operation *op) {
  double moved = 0;
  if (!isa<dist::PinOp>(op))
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                           llvm::to_vector(op->getResults())))
      moved += graph::tensorType(value).getNumElements();
  return moved;
}

/// Returns the number of floating-point operations of `op`. Returns 0 for a
/// `dist.pin` (sharding constraint), which is erased before the program runs.
static double flopsOf(Operation *op) {
  if (isa<dist::PinOp>(op))
    return 0;
  auto priced = dyn_cast<graph::CostOpInterface>(op);
  return priced ? priced.getFlops() : graph::elementWiseFlops(op);
}

/// Returns the `graph.get_parameter` (read of a weight) from which `op` takes
/// its elements through transposes, reshapes, slices, casts and `dist.pin`
/// (sharding constraints) only, as in cast(transpose(get_parameter)). Returns
/// `op` itself if it is a `graph.get_parameter`. Otherwise, returns null.
static graph::GetParameterOp weightBehind(Operation *op) {
  while (op &&
         (op->hasTrait<graph::IsView>() || isa<graph::CastOp, dist::PinOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<graph::GetParameterOp>(op);
}

ForwardChain::ForwardChain(func::FuncOp function, Links kind)
    : function(function), kind(kind),
      parameters(function->getParentOfType<ModuleOp>()) {
  for (Operation &op : function.front().without_terminator())
    if (follows(&op)) {
      isFollower.insert(&op);
      followerOps.push_back(&op);
    } else if (carriesWork(&op)) {
      positions[&op] = linkOps.size();
      linkOps.push_back(&op);
    }
}

/// Returns whether `op` is a follower: an op of the backward pass or of the
/// weight update, or an op that reads the result of a follower. Phase 2-prepare
/// marks ops of the backward pass and the update with `graph.mirrors` or
/// `graph.updates`. An op without operands, such as a constant, is never a
/// follower.
bool ForwardChain::follows(Operation *op) const {
  if (op->getNumOperands() == 0)
    return false;
  return op->hasAttr(graph::mirrorsName) || op->hasAttr(graph::updatesName) ||
         op->hasTrait<graph::IsUpdate>() ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isFollower.contains(operand.getDefiningOp());
         });
}

bool ForwardChain::trains(graph::GetParameterOp weight) const {
  auto parameter = parameters.lookup<graph::ParameterOp>(weight.getParameter());
  return parameter && parameter.getTrained();
}

/// Returns whether `op` is a link: a forward op that exactly one stage runs. An
/// op that reads a trained weight must be a link, because the gradient of the
/// weight is computed on the stage of this op.
bool ForwardChain::carriesWork(Operation *op) const {
  if (weightBehind(op))
    return false;
  if (op->hasTrait<graph::SumsProducts>())
    return true;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer ? positions.contains(producer) : kind == Links::OfInputs)
      return true;
    if (graph::GetParameterOp weight = weightBehind(producer))
      if (graph::tensorType(weight.getResult()).getNumElements() >
              smallWeight ||
          trains(weight))
        return true;
  }
  return false;
}

/// Returns the input of the stage planner for the links (forward ops that only
/// one stage runs). Weights and activations count with their bytes in the
/// forward pass only, without gradients and optimizer state. The planner may
/// make the slowest stage 5 % slower than necessary in order to send fewer
/// bytes.
plan::StageCutRequest ForwardChain::request(int numStages) const {
  plan::StageCutRequest request;
  request.numStages = numStages;
  request.tolerance = 0.05;
  std::vector<plan::LiveValue> values;
  for (auto [i, op] : llvm::enumerate(linkOps)) {
    plan::WorkItem item;
    item.flops = flopsOf(op);
    // Reading or writing one element is assumed to take as long as 4 flops of a
    // contraction.
    item.seconds = item.flops + 4 * elementsMoved(op);
    for (Value operand : op->getOperands())
      if (weightBehind(operand.getDefiningOp()))
        item.weightBytes += bytesOf(operand);
    for (Value result : op->getResults()) {
      item.activationBytes += bytesOf(result);
      plan::LiveValue live{i, i, bytesOf(result)};
      for (Operation *user : result.getUsers())
        if (positions.contains(user))
          live.lastUser = std::max(live.lastUser, positionOf(user));
      values.push_back(live);
    }
    request.items.push_back(item);
  }
  request.crossingBytes = plan::crossingBytes(linkOps.size(), values);
  return request;
}

std::vector<std::string> ForwardChain::cutNames() const {
  std::vector<std::string> names;
  for (Operation &op : function.front().without_terminator()) {
    if (StringRef node = graph::nodeName(op.getLoc()); !node.empty())
      names.push_back(node.str());
    if (auto own = op.getAttrOfType<StringAttr>(graph::nameName))
      names.push_back(own.str());
  }
  return names;
}

/// Returns whether `name` is the name of the node of `op`, or of its result.
static bool isCalled(Operation *op, StringRef name) {
  auto own = op->getAttrOfType<StringAttr>(graph::nameName);
  return graph::nodeName(op->getLoc()) == name ||
         (own && own.getValue() == name);
}

/// Returns the op that computes the output called `name`. Returns null if the
/// function has no such output, or if the output is an input.
Operation *ForwardChain::makerOfOutput(StringRef name) const {
  Operation *maker = nullptr;
  for (auto [i, result] :
       llvm::enumerate(function.front().getTerminator()->getOperands())) {
    auto own = function.getResultAttrOfType<StringAttr>(i, graph::nameName);
    if (own && own.getValue() == name)
      maker = result.getDefiningOp();
  }
  return maker;
}

std::optional<size_t> ForwardChain::findCut(StringRef name) const {
  Operation *maker = makerOfOutput(name);
  // Constants stand before all ops that read them, far from where their node
  // computes. They count only where nothing else has the name.
  Operation *first = nullptr, *constant = nullptr;
  for (Operation &op : function.front().without_terminator())
    if (&op == maker || isCalled(&op, name)) {
      Operation *&found = isa<graph::ConstantOp>(op) ? constant : first;
      found = found ? found : &op;
    }
  if (!first)
    first = constant;
  if (!first)
    return std::nullopt;
  for (Operation *op = first; op; op = op->getNextNode())
    if (positions.contains(op))
      return positionOf(op);
  return linkOps.size();
}

bool ForwardChain::hasLinksAround(ArrayAttr names) const {
  return !names ||
         llvm::all_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
           const size_t cut = findCut(name).value_or(0);
           return cut > 0 && cut < linkOps.size();
         });
}
