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
/// function returns 18. The op `dist.pin` requests a sharding for a value. For
/// a `dist.pin`, the function returns 0, because this op is erased before the
/// program runs.
static double elementsMoved(Operation *op) {
  double moved = 0;
  if (!isa<dist::PinOp>(op))
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                           llvm::to_vector(op->getResults())))
      moved += graph::tensorType(value).getNumElements();
  return moved;
}

/// Returns the number of floating-point operations of `op`. Returns 0 for a
/// `dist.pin`, which is erased before the program runs.
static double flopsOf(Operation *op) {
  if (isa<dist::PinOp>(op))
    return 0;
  auto priced = dyn_cast<graph::CostOpInterface>(op);
  return priced ? priced.getFlops() : graph::elementWiseFlops(op);
}

/// Returns the op `graph.get_parameter` that reads the weight from which `op`
/// takes its elements:
///
/// - If `op` is a `graph.get_parameter`, returns `op`.
/// - If `op` is a view (such as a transpose), a cast or a `dist.pin`, applies
///   the same rule to the op that computes its operand 0. A `dist.pin` returns
///   its operand and requests a sharding for it.
/// - For any other op, and if `op` is null, returns null.
///
/// For example, cast(transpose(get_parameter @w)) is a chain of three ops. The
/// function returns the `graph.get_parameter` for each of them.
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

/// Returns whether `op` is a follower. A follower is an op of the backward pass
/// or of the weight update. An op without operands, such as a constant, is
/// never a follower. Any other op is a follower if one of these is true:
///
/// - `op` has the attribute `graph.mirrors`. Phase 2-prepare sets it on ops
///   that compute gradients.
/// - `op` has the attribute `graph.updates`. Phase 2-prepare sets it on ops
///   that only the update of one weight needs.
/// - `op` is a `graph.accumulate`, which combines one value per microbatch,
///   such as a gradient, to one value per step.
/// - `op` is a `graph.set_parameter`, which stores a new weight.
/// - `op` reads the result of another follower.
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

/// Returns whether `op` is a link, that is, a forward op that exactly one stage
/// runs. All other forward ops are cheap, and each stage that uses them gets a
/// clone. A link sums products (such as a matmul), or reads the result of a
/// link, a weight of more than 4096 elements, or a trained weight. The gradient
/// of a trained weight is computed on the stage of `op`, so only one stage may
/// run `op`. A view or a cast of a weight is no link. An op that reads it
/// counts as an op that reads the weight. With Links::OfInputs, ops that read
/// inputs of the model are links, too.
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

/// Returns the input of the stage planner, which cuts the list of links into
/// `numStages` stages. A link is a forward op that only one stage runs. The
/// input contains the work of each link, and the bytes that must be sent if a
/// stage ends after the link. These are only bytes of the forward pass. Bytes
/// of gradients are not counted.
///
/// The input also contains a tolerance of 5 %. Let T be the least time that is
/// possible for the slowest stage. The planner considers all cuts whose slowest
/// stage takes at most 1.05 · T. It chooses the cut that sends the fewest
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

std::optional<size_t> ForwardChain::findCut(StringRef name) const {
  bool found = false;
  for (Operation &op : function.front().without_terminator()) {
    auto own = op.getAttrOfType<StringAttr>(graph::nameName);
    found |=
        graph::nodeName(op.getLoc()) == name || (own && own.getValue() == name);
    if (found && positions.contains(&op))
      return positionOf(&op);
  }
  return found ? std::optional(linkOps.size()) : std::nullopt;
}
