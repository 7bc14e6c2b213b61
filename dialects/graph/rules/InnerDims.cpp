//===- InnerDims.cpp - rules of ops whose parts exchange inner values -----===//
//
// Softmaxes, norms, scans and selections work along dims of their own. Such a
// dim may be split, at the price of a few numbers per row.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/TensorBytes.h"
#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Tensor = ShardingRule::TensorFactors;

/// Makes the dims from `begin` to `end` of `tensor` Inner; Whole where `result`
/// has no elements, so that there is nothing to exchange.
static void makeInner(ShardingRule &rule, const Tensor &tensor, Value result,
                      int64_t begin, int64_t end) {
  bool empty = tensorType(result).getNumElements() == 0;
  for (int64_t dim = begin; dim < end; ++dim)
    for (int factor : tensor[dim]) {
      rule.factors[factor].kind = empty ? FactorKind::Whole : FactorKind::Inner;
      rule.factors[factor].mustBeContiguous = true;
    }
}

/// `tensor` with size 1 in the dims from `begin` to `end`.
static Tensor without(Tensor tensor, int64_t begin, int64_t end) {
  for (int64_t dim = begin; dim < end; ++dim)
    tensor[dim].clear();
  return tensor;
}

static int64_t bytesOf(Value value) { return elementBytes(tensorType(value)); }

/// Bytes of a sum over floats: narrower ones are summed in f32.
static int64_t bytesOfSum(Value value) {
  return std::max<int64_t>(4, bytesOf(value));
}

/// Bytes of a global index as it is exchanged.
static int64_t bytesOfIndex(int64_t size) { return size > INT32_MAX ? 8 : 4; }

/// The rule of an op that works along `dim` of operand and result of one shape.
static ShardingRule alongDim(Operation *op, int64_t dim) {
  ShardingRule rule = sameShapeRule(op);
  makeInner(rule, rule.results[0], op->getResult(0), dim, dim + 1);
  return rule;
}

/// The maximum and the sum of each row.
static ShardingRule softmaxRule(Operation *op, int64_t dim) {
  ShardingRule rule = alongDim(op, dim);
  Tensor row = without(rule.results[0], dim, dim + 1);
  Value input = op->getOperand(0);
  rule.innerValues = {{row, FactorKind::Max, bytesOf(input)},
                      {row, FactorKind::Sum, bytesOfSum(input)}};
  return rule;
}

ShardingRule SoftmaxOp::getShardingRule() {
  return softmaxRule(*this, getDim());
}
ShardingRule LogSoftmaxOp::getShardingRule() {
  return softmaxRule(*this, getDim());
}

/// Scale and bias follow the dims that are normalised. `numSums` sums of each
/// row travel together.
static ShardingRule normRule(Operation *op, int64_t from, int64_t numSums) {
  ShardingRule rule = sameShapeRule(op);
  int64_t rank = rule.operands[0].size();
  makeInner(rule, rule.operands[0], op->getOperand(0), from, rank);
  Tensor normalised(llvm::drop_begin(rule.operands[0], from));
  while (rule.operands.size() < op->getNumOperands())
    rule.operands.push_back(normalised);
  rule.innerValues = {{without(rule.operands[0], from, rank), FactorKind::Sum,
                       numSums * bytesOfSum(op->getOperand(0))}};
  return rule;
}

ShardingRule LayerNormOp::getShardingRule() {
  return normRule(*this, getDim(), /*numSums=*/2);
}
ShardingRule RmsNormOp::getShardingRule() {
  return normRule(*this, getDim(), /*numSums=*/1);
}

/// The sum of each part.
ShardingRule CumSumOp::getShardingRule() {
  int64_t dim = getDim();
  ShardingRule rule = alongDim(*this, dim);
  rule.partialThrough = {0};
  rule.innerValues = {{without(rule.results[0], dim, dim + 1),
                       FactorKind::Inner, bytesOf(getInput())}};
  return rule;
}

/// The extreme value of each row, then the first or last index that has it.
ShardingRule ArgReduceOp::getShardingRule() {
  ShardingRule rule;
  int64_t dim = getDim();
  Tensor input = addDims(rule, tensorType(getInput()).getShape());
  makeInner(rule, input, getResult(), dim, dim + 1);
  Tensor result = without(input, dim, dim + 1);
  rule.innerValues = {
      {result, getKind() == ReduceKind::Max ? FactorKind::Max : FactorKind::Min,
       bytesOf(getInput())},
      {result, getLast() ? FactorKind::Max : FactorKind::Min,
       bytesOfIndex(tensorType(getInput()).getDimSize(dim))}};
  if (!getKeep())
    result.erase(result.begin() + dim);
  rule.operands.push_back(input);
  rule.results.push_back(result);
  return rule;
}

/// The best k of each part, then the global indices of the k that won, which
/// those who have them sum with the zeros of the others.
ShardingRule TopKOp::getShardingRule() {
  ShardingRule rule;
  int64_t dim = getDim(), k = getK();
  Tensor input = addDims(rule, tensorType(getInput()).getShape());
  makeInner(rule, input, getValues(), dim, dim + 1);
  Tensor row = without(input, dim, dim + 1), result = row;
  if (k > 1)
    result[dim] = {rule.add(k, FactorKind::Whole)};
  rule.innerValues = {{row, FactorKind::Inner, bytesOf(getInput()), k}};
  if (!getIndices().use_empty())
    rule.innerValues.push_back(
        {result, FactorKind::Sum,
         bytesOfIndex(tensorType(getInput()).getDimSize(dim))});
  rule.operands.push_back(input);
  rule.results = {result, result};
  return rule;
}
