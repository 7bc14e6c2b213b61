//===- InnerDims.cpp - sharding rules: softmax, norms, scans, top-k -------===//
//
// Softmaxes, norms, scans and selections work along some dims of their operand.
// A dim that the op works along may be split as an Inner factor: the parts then
// exchange a few numbers per row, as in online softmax (Milakov & Gimelshein
// 2018).
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/TensorBytes.h"
#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Tensor = ShardingRule::TensorFactors;

/// Makes the factors of the dims [begin, end) of `tensor` Inner and contiguous.
/// If `result` has no elements, makes them Whole instead, because there is
/// nothing to exchange.
static void makeInner(ShardingRule &rule, const Tensor &tensor, Value result,
                      int64_t begin, int64_t end) {
  bool empty = tensorType(result).getNumElements() == 0;
  for (int64_t dim = begin; dim < end; ++dim)
    for (int factor : tensor[dim]) {
      rule.factors[factor].kind = empty ? FactorKind::Whole : FactorKind::Inner;
      rule.factors[factor].mustBeContiguous = true;
    }
}

/// Returns `tensor` with no factors in the dims [begin, end), which stands for
/// a tensor with size 1 in these dims.
static Tensor without(Tensor tensor, int64_t begin, int64_t end) {
  for (int64_t dim = begin; dim < end; ++dim)
    tensor[dim].clear();
  return tensor;
}

/// Returns the bytes of one element of `value`.
static int64_t bytesOf(Value value) { return elementBytes(tensorType(value)); }

/// Returns the bytes of one element of a sum over elements of `value`. Floats
/// narrower than f32 are summed in f32.
static int64_t bytesOfSum(Value value) {
  return std::max<int64_t>(4, bytesOf(value));
}

/// Returns the bytes of an index into a dim of `size` elements that ranks
/// exchange: 4 (i32) if the index fits, else 8.
static int64_t bytesOfIndex(int64_t size) { return size > INT32_MAX ? 8 : 4; }

/// Returns the rule of an op whose operand 0 and result 0 have the same shape
/// and that combines elements along `dim`: `dim` is Inner, all other dims are
/// Parallel.
static ShardingRule alongDim(Operation *op, int64_t dim) {
  ShardingRule rule = sameShapeRule(op);
  makeInner(rule, rule.results[0], op->getResult(0), dim, dim + 1);
  return rule;
}

/// Returns the rule of a softmax along `dim`. If `dim` is split, the ranks
/// exchange the maximum and the sum of each row.
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

/// Returns the rule of a norm over the dims from `from` on. Scale and bias have
/// the factors of these dims. If these dims are split, the ranks exchange
/// `numSums` sums per row in one message.
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

/// Makes the dim of the cumulative sum an Inner factor. If it is split, each
/// rank gathers the sums over the parts of all ranks.
ShardingRule CumSumOp::getShardingRule() {
  int64_t dim = getDim();
  ShardingRule rule = alongDim(*this, dim);
  rule.partialThrough = {0};
  rule.innerValues = {{without(rule.results[0], dim, dim + 1),
                       FactorKind::Inner, bytesOf(getInput())}};
  return rule;
}

/// Makes the reduced dim an Inner factor. If it is split, the ranks first find
/// the extreme value of each row, then the first or last index that has it.
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

/// Makes the dim of the selection an Inner factor. If it is split, the ranks
/// first gather the k best values of each rank's part. To find the indices of
/// the k best values of all, they sum global indices, where each rank
/// contributes 0 for a value that is not in its part.
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
