//===- Pricing.cpp - costs of reshards, of computation and of broken rules ===//

#include "passes/4-shard/graph/Pricing.h"
#include "dialects/graph/TensorBytes.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

int64_t pcc::shard::localBytes(RankedTensorType type,
                               const dist::Sharding &sharding) {
  return dist::numElements(
             dist::localShape(sharding, dist::shapeOf(type.getShape()))) *
         graph::elementBytes(type);
}

static double inPicoseconds(double seconds) {
  return std::round(seconds * 1e12);
}

plan::Cost pcc::shard::costOf(const plan::ReshardPlan &plan,
                              const plan::ReshardPlanner &planner) {
  plan::Cost cost;
  cost.bytes = static_cast<double>(plan.receivedBytes);
  cost.calls = static_cast<double>(plan.calls);
  if (planner.cluster())
    cost.picoseconds = inPicoseconds(plan.seconds);
  return cost;
}

bool pcc::shard::isPartialInTime(const dist::Sharding &sharding) {
  return llvm::any_of(sharding.partials, [](const dist::Partial &partial) {
    return partial.axis.axis == dist::timeAxis;
  });
}

bool pcc::shard::isCutInTime(const dist::Sharding &sharding) {
  return dist::withoutTime(sharding) != dist::placement(sharding);
}

plan::Cost pcc::shard::priceOf(plan::ReshardPlanner &planner,
                               RankedTensorType type,
                               const dist::Sharding &from,
                               const dist::Sharding &to) {
  const plan::ReshardPlan &plan = planner.plan(
      from, to, dist::shapeOf(type.getShape()), graph::elementBytes(type));
  plan::Cost cost = costOf(plan, planner);
  if (!plan.possible() || isPartialInTime(from) != isPartialInTime(to))
    cost.penalty = brokenRulePenalty;
  return cost;
}

/// Returns the largest share that a rank has in the work of `op`, from 0 to 1.
/// If 4 ranks split 6 elements, the largest part is 2 elements, so the largest
/// share is 1/3.
static double largestShare(const ShardedOp &op) {
  double share = 1;
  for (auto [factor, axes] : llvm::zip_equal(op.rule->factors, op.axes))
    if (factor.size > 0)
      share *=
          static_cast<double>(dist::Factor{factor.size, axes}.localSize()) /
          static_cast<double>(factor.size);
  return share;
}

/// Returns the bytes of all operands and results of `op`, unsharded.
static double bytesMoved(Operation *op) {
  double bytes = 0;
  for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                         llvm::to_vector(op->getResults())))
    bytes += graph::numBytes(graph::tensorType(value));
  return bytes;
}

/// Returns the name of the element type as the cluster file spells it, such as
/// `bf16`.
static std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

double pcc::shard::computePicoseconds(const ShardedOp &op,
                                      const plan::ReshardPlanner &planner) {
  if (!planner.cluster() || !op.op || op.op->getNumOperands() == 0 ||
      op.op->getNumResults() == 0 ||
      !isa<graph::ShardingRuleOpInterface>(op.op))
    return 0;
  auto priced = dyn_cast<graph::CostOpInterface>(op.op);
  double flops = priced ? priced.getFlops() : graph::elementWiseFlops(op.op);
  double share = largestShare(op);
  Type element = graph::tensorType(op.op->getResult(0)).getElementType();
  return inPicoseconds(planner.cluster()->computeSeconds(
      flops * share, bytesMoved(op.op) * share, nameOf(element)));
}
