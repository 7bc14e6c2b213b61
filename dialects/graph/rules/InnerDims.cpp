//===- InnerDims.cpp - sharding rules: softmax, norms, scans, top-k -------===//
//
// Softmaxes, norms, scans and selections combine elements along some dims of
// their operand. A dim along which an op combines elements may be split as an
// Inner factor. The ranks then exchange a few numbers per row, as in online
// softmax (Milakov & Gimelshein 2018).
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/TensorBytes.h"
#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Tensor = ShardingRule::TensorFactors;

/// Gives the kind Inner in `rule` to the factors (loop indices of the op) of
/// the dims [begin, end). Ranks can split these dims if they exchange
/// intermediate results while the op runs. `tensor` lists the factors of each
/// dim. Each rank must have a contiguous range of indices. If `result` has no
/// elements, the kind is Whole instead (not to be split).
static void makeInner(ShardingRule &rule, const Tensor &tensor, Value result,
                      int64_t begin, int64_t end) {
  bool empty = tensorType(result).getNumElements() == 0;
  for (int64_t dim = begin; dim < end; ++dim)
    for (int factor : tensor[dim]) {
      rule.factors[factor].kind = empty ? FactorKind::Whole : FactorKind::Inner;
      rule.factors[factor].mustBeContiguous = true;
    }
}

/// Returns a copy of `tensor` in which the dims [begin, end) have no factors. A
/// factor is a loop index of the op. `tensor` lists the factors of each dim of
/// a tensor. For a tensor with the dims r, v and w:
///
///   without({{r}, {v}, {w}}, 1, 3) = {{r}, {}, {}}
static Tensor without(Tensor tensor, int64_t begin, int64_t end) {
  for (int64_t dim = begin; dim < end; ++dim)
    tensor[dim].clear();
  return tensor;
}

/// Returns the size in bytes of one element of `value`.
static int64_t bytesOf(Value value) { return elementBytes(tensorType(value)); }

/// Returns the size in bytes of a sum over elements of `value`. Floats narrower
/// than f32 are summed in f32.
static int64_t bytesOfSum(Value value) {
  return std::max<int64_t>(4, bytesOf(value));
}

/// Returns the size in bytes of an index of a dim of `size` elements: 4 (i32)
/// if the dim is short enough, otherwise 8 (i64).
static int64_t bytesOfIndex(int64_t size) { return size > INT32_MAX ? 8 : 4; }

/// Returns the sharding rule of an op that combines elements along `dim`. If
/// `dim` is split, the ranks exchange intermediate results (kind Inner). All
/// other dims are Parallel factors (split without communication).
static ShardingRule alongDim(Operation *op, int64_t dim) {
  ShardingRule rule = sameShapeRule(op);
  makeInner(rule, rule.results[0], op->getResult(0), dim, dim + 1);
  return rule;
}

/// Returns the sharding rule of `op`, a softmax or log-softmax along dim `dim`.
/// A row has all elements that differ only in their index along this dim. If
/// ranks split the dim, they exchange two numbers per row: the largest element
/// x_max of the row, and the sum of exp(x - x_max) over all elements x of the
/// row.
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

/// Returns the sharding rule of `op`, a layer norm or an RMS norm over the dims
/// from number `from` on. If ranks split these dims, they exchange `numSums`
/// sums per row.
static ShardingRule normRule(Operation *op, int64_t from, int64_t numSums) {
  ShardingRule rule = sameShapeRule(op);
  int64_t rank = rule.operands[0].size();
  makeInner(rule, rule.operands[0], op->getOperand(0), from, rank);
  Tensor normalised(llvm::drop_begin(rule.operands[0], from));
  while (rule.operands.size() < op->getNumOperands())
    rule.operands.push_back(normalised);
  rule.innerValues.assign(numSums,
                          {without(rule.operands[0], from, rank),
                           FactorKind::Sum, bytesOfSum(op->getOperand(0))});
  return rule;
}

ShardingRule LayerNormOp::getShardingRule() {
  return normRule(*this, getDim(), /*numSums=*/2);
}
ShardingRule RmsNormOp::getShardingRule() {
  return normRule(*this, getDim(), /*numSums=*/1);
}

/// Returns the sharding rule of a cumulative sum. If ranks split its dim, each
/// rank adds the totals of all lower ranks, or of all higher ranks with the
/// attribute `reverse`.
ShardingRule CumSumOp::getShardingRule() {
  int64_t dim = getDim();
  ShardingRule rule = alongDim(*this, dim);
  rule.partialThrough = {0};
  rule.innerValues = {{without(rule.results[0], dim, dim + 1),
                       FactorKind::Inner, bytesOf(getInput())}};
  return rule;
}

/// Returns the sharding rule of an arg-max or arg-min. If ranks split its dim,
/// they exchange two numbers per row: the extreme element, and its first index
/// (or its last index with the attribute `last`).
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

/// Makes the dim of topk a loop dim of kind Inner. If ranks split the dim, they
/// all-gather the k best values of each rank. They also sum the indices of the
/// k best of all values: a rank contributes the index of a value that it holds,
/// and 0 for the others.
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
