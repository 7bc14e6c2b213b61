//===- ElementWise.cpp - sharding rules of element-wise ops ---------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

ShardingRule::TensorFactors pcc::graph::addDims(ShardingRule &rule,
                                                ArrayRef<int64_t> shape,
                                                FactorKind kind) {
  ShardingRule::TensorFactors dims(shape.size());
  for (auto [dim, size] : llvm::zip_equal(dims, shape))
    if (size > 1)
      dim.push_back(rule.add(size, kind));
  return dims;
}

ShardingRule pcc::graph::broadcastRule(Operation *op) {
  ShardingRule rule;
  auto shape = tensorType(op->getResult(0)).getShape();
  rule.results.push_back(addDims(rule, shape));
  for (Value operand : op->getOperands()) {
    auto operandShape = tensorType(operand).getShape();
    ShardingRule::TensorFactors dims(operandShape.size());
    for (size_t i = 0; i < dims.size(); ++i)
      if (operandShape[i] > 1)
        dims[i] = rule.results[0][shape.size() - dims.size() + i];
    rule.operands.push_back(dims);
  }
  return rule;
}

ShardingRule pcc::graph::sameShapeRule(Operation *op, ArrayRef<int64_t> whole) {
  ShardingRule rule;
  rule.results.push_back(
      addDims(rule, tensorType(op->getResult(0)).getShape()));
  rule.operands.push_back(rule.results[0]);
  for (int64_t dim : whole)
    for (int factor : rule.results[0][dim])
      rule.factors[factor].kind = FactorKind::Whole;
  return rule;
}

ShardingRule pcc::graph::wholeRule(Operation *op) {
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(
        addDims(rule, tensorType(operand).getShape(), FactorKind::Whole));
  for (Value result : op->getResults())
    rule.results.push_back(
        addDims(rule, tensorType(result).getShape(), FactorKind::Whole));
  return rule;
}

bool pcc::graph::isZeros(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      return dense && dense.isSplat() &&
             isa<FloatType>(dense.getElementType()) &&
             dense.getSplatValue<APFloat>().isZero();
    }
    if (!isa<BroadcastOp, ReshapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// Returns the sharding rule of a broadcasting op. `operands` lists the
/// operands that may be partial sums (one summand per rank). If `together` is
/// true, all of them or none must be, as in a + b. Otherwise, at most one may
/// be, as in a · b.
static ShardingRule linearRule(Operation *op,
                               std::initializer_list<int> operands,
                               bool together = false) {
  ShardingRule rule = broadcastRule(op);
  rule.partialThrough.assign(operands);
  rule.partialTogether = together;
  return rule;
}

#define PCC_RULE(OP, RULE)                                                     \
  ShardingRule OP::getShardingRule() { return RULE; }

PCC_RULE(AddOp, linearRule(*this, {0, 1}, /*together=*/true))
PCC_RULE(SubOp, linearRule(*this, {0, 1}, /*together=*/true))
PCC_RULE(MulOp, linearRule(*this, {0, 1}))
PCC_RULE(DivOp, linearRule(*this, {0}))
PCC_RULE(NegOp, linearRule(*this, {0}))

#undef PCC_RULE

/// Returns the sharding rule of select. The operand `on_true` may be a partial
/// sum (one summand per rank) if all elements of `on_false` are known to be 0.
/// The result is then a partial sum, too. If an element of `on_false` were 1,
/// each of 4 ranks would give 1, and the sum over the ranks would be 4. In the
/// same way, `on_false` may be a partial sum if all elements of `on_true` are
/// known to be 0.
ShardingRule SelectOp::getShardingRule() {
  ShardingRule rule = broadcastRule(*this);
  if (isZeros(getOnFalse()))
    rule.partialThrough = {1};
  else if (isZeros(getOnTrue()))
    rule.partialThrough = {2};
  return rule;
}

/// Returns the sharding rule of a cast. The operand may be a partial sum (one
/// summand per rank or microbatch) if both element types are floats. A cast to
/// a narrower type, such as from f32 to bf16, rounds each summand: 4-shard lets
/// only sums over microbatches pass it.
ShardingRule CastOp::getShardingRule() {
  const bool isOfFloats =
      isa<FloatType>(tensorType(getInput()).getElementType()) &&
      isa<FloatType>(tensorType(getResult()).getElementType());
  return isOfFloats ? linearRule(*this, {0}) : broadcastRule(*this);
}
