//===- ContractionWeights.cpp - weights for tensor parallelism to divide --===//

#include "passes/4-shard/policy/ContractionWeights.h"
#include "dialects/graph/TensorBytes.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

bool pcc::shard::isContraction(Operation *op) {
  return op && op->hasTrait<graph::IsContraction>();
}

bool pcc::shard::isLayoutOrCast(Operation *op) {
  return op && (graph::laysOutOperand(op) || isa<graph::CastOp>(op));
}

graph::GetParameterOp pcc::shard::weightOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isLayoutOrCast(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<graph::GetParameterOp>(op);
}

ContractionWeights::ContractionWeights(const ShardedGraph &graph) {
  double total = 0;
  unsigned repeats = 1;
  std::map<std::vector<int64_t>, unsigned> shapes;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    if (!isContraction(graph.ops[i].op))
      continue;
    for (OpOperand &operand : graph.ops[i].op->getOpOperands())
      if (auto parameter = weightOf(operand.get())) {
        auto type = graph::tensorType(parameter.getResult());
        weights[i] = {graph::numBytes(type), operand.getOperandNumber()};
        weights[graph.opOf(parameter.getResult())] = {graph::numBytes(type),
                                                      {}};
        total += graph::numBytes(type);
        repeats = std::max(repeats, ++shapes[type.getShape().vec()]);
      }
  }
  // Set the bytes of small weights to 0, so that mustSplit() ignores them. A
  // weight is small if it has at most 1 % of the weight bytes of one
  // transformer block. `repeats` is the estimated number of blocks: the number
  // of uses of the most frequent weight shape.
  for (auto &[index, weight] : weights)
    if (weight.bytes <= 0.01 * total / repeats)
      weight.bytes = 0;
}

bool ContractionWeights::mustSplit(const ShardedOp &op, unsigned index,
                                   const dist::SubAxis &axis) const {
  Weight weight = weights.lookup(index);
  if (weight.bytes == 0)
    return false;
  bool begun = llvm::any_of(op.axes, [&](const dist::SubAxes &axes) {
    return dist::holdsAxis(axes, axis.axis);
  });
  for (const auto &dim : weight.dimsOf(*op.rule))
    for (int factor : dim) {
      const auto &f = op.rule->factors[factor];
      if (begun && !dist::holdsAxis(op.axes[factor], axis.axis))
        continue;
      if (f.kind != graph::FactorKind::Whole &&
          dist::numParts(op.axes[factor]) * axis.size <= f.size)
        return true;
    }
  return false;
}

bool ContractionWeights::splits(const ShardedOp &candidate, unsigned index,
                                const dist::SubAxis &axis) const {
  for (const auto &dim : weights.lookup(index).dimsOf(*candidate.rule))
    for (int factor : dim)
      if (llvm::is_contained(candidate.axes[factor], axis))
        return true;
  return false;
}
