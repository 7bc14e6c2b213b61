//===- Indexing.cpp - sharding rules of gathers and scatters --------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;
using Tensor = ShardingRule::TensorFactors;

/// Returns the sharding rule of a gather with constant indices. If ranks split
/// the gathered dim of the result, each rank receives the data elements that
/// its shard needs (a windowed read). All dims except the gathered one are
/// Parallel factors (split without communication).
static ShardingRule
constantGatherRule(GatherOp op,
                   ArrayRef<ShardingRule::Window::Stretch> stretches) {
  ShardingRule rule;
  const int dim = static_cast<int>(op.getDim());
  const int64_t size = tensorType(op.getData()).getDimSize(dim),
                count = tensorType(op.getIndices()).getDimSize(0);
  Tensor data = addDims(rule, tensorType(op.getData()).getShape());
  for (int factor : data[dim])
    rule.factors[factor].kind = FactorKind::Whole;
  Tensor result = data;
  result[dim] = count > 1 ? Dims{rule.add(count)} : Dims{};
  rule.operands = {data, Tensor(1)};
  rule.results = {result};
  rule.partialThrough = {0};
  addWindow(rule, {0,
                   dim,
                   {stretches.begin(), stretches.end()},
                   /*extent=*/0,
                   /*narrows=*/count < size});
  return rule;
}

/// Makes the gathered dim of the data a Sum factor. Each rank reads the slices
/// that it has, and zeros for all others. The sum over the ranks is the result
/// (vocabulary-parallel embedding; Megatron-LM, Shoeybi et al. 2019).
ShardingRule GatherOp::getShardingRule() {
  if (auto stretches = constantStretches(*this); !stretches.empty())
    return constantGatherRule(*this, stretches);
  ShardingRule rule;
  size_t dim = getDim();
  Tensor data = addDims(rule, tensorType(getData()).getShape()),
         indices = addDims(rule, tensorType(getIndices()).getShape());
  // Booleans have no sum over the ranks. Their gathered dim is Whole (not to be
  // split).
  bool numbers = !tensorType(getData()).getElementType().isInteger(1);
  for (int factor : data[dim]) {
    rule.factors[factor].kind = numbers ? FactorKind::Sum : FactorKind::Whole;
    rule.factors[factor].needsOffset = rule.factors[factor].mustBeContiguous =
        true;
  }
  Tensor result(data.begin(), data.begin() + dim);
  llvm::append_range(result, indices);
  result.append(data.begin() + dim + 1, data.end());
  rule.operands = {data, indices};
  rule.results = {result};
  rule.partialThrough = {0};
  return rule;
}

/// Adds factors for the dims of two shapes of equal rank. Dims of equal size,
/// except `dim`, share a Parallel factor (split without communication). All
/// other dims get separate Whole factors (not to be split).
static void tieElements(ShardingRule &rule, ArrayRef<int64_t> data,
                        ArrayRef<int64_t> indices, size_t dim, Tensor &dataDims,
                        Tensor &indexDims) {
  for (size_t i = 0; i < data.size(); ++i) {
    bool tied = i != dim && data[i] == indices[i];
    dataDims.push_back(data[i] > 1
                           ? Dims{rule.add(data[i], tied ? FactorKind::Parallel
                                                         : FactorKind::Whole)}
                           : Dims{});
    if (tied)
      indexDims.push_back(dataDims.back());
    else
      indexDims.push_back(indices[i] > 1
                              ? Dims{rule.add(indices[i], FactorKind::Whole)}
                              : Dims{});
  }
}

/// Makes the gathered dim of the data a Sum factor. Each rank reads the
/// elements that it has, and zeros for all others. The sum over the ranks is
/// the result.
ShardingRule GatherElementsOp::getShardingRule() {
  ShardingRule rule;
  Tensor data, indices;
  tieElements(rule, tensorType(getData()).getShape(),
              tensorType(getIndices()).getShape(), getDim(), data, indices);
  bool numbers = !tensorType(getData()).getElementType().isInteger(1);
  for (int factor : data[getDim()]) {
    rule.factors[factor].kind = numbers ? FactorKind::Sum : FactorKind::Whole;
    rule.factors[factor].needsOffset = rule.factors[factor].mustBeContiguous =
        true;
  }
  for (int factor : indices[getDim()])
    rule.factors[factor].kind = FactorKind::Parallel;
  rule.operands = {data, indices};
  rule.results = {indices};
  rule.partialThrough = {0};
  return rule;
}

/// Lets the updates of a scatter be partial sums if the scatter adds them to
/// zeros.
template <typename Op> static void passSums(Op op, ShardingRule &rule) {
  if (op.getKind() == ScatterKind::Add && isZeros(op.getData()))
    rule.partialThrough = {2};
}

/// Makes the written dim a Parallel factor (split without communication). Each
/// rank writes the updates whose index is in its shard of the result.
ShardingRule ScatterElementsOp::getShardingRule() {
  ShardingRule rule;
  Tensor data, indices;
  tieElements(rule, tensorType(getData()).getShape(),
              tensorType(getIndices()).getShape(), getDim(), data, indices);
  for (int factor : data[getDim()]) {
    rule.factors[factor].kind = FactorKind::Parallel;
    rule.factors[factor].needsOffset = rule.factors[factor].mustBeContiguous =
        true;
  }
  rule.operands = {data, indices, indices};
  rule.results = {data};
  passSums(*this, rule);
  return rule;
}

/// Makes all dims Parallel factors (split without communication), except these
/// Whole factors (not to be split):
///
///  - the indexed dims of the data
///  - the last dim of the indices, which holds the index tuples
ShardingRule GatherNdOp::getShardingRule() {
  ShardingRule rule;
  auto data = tensorType(getData()).getShape(),
       indices = tensorType(getIndices()).getShape();
  size_t batch = getBatchDims(), depth = indices.back();
  Tensor dataDims = addDims(rule, data), indexDims(indices.size());
  for (size_t i = batch; i < batch + depth; ++i)
    for (int factor : dataDims[i])
      rule.factors[factor].kind = FactorKind::Whole;
  for (size_t i = 0; i + 1 < indices.size(); ++i)
    indexDims[i] = i < batch        ? dataDims[i]
                   : indices[i] > 1 ? Dims{rule.add(indices[i])}
                                    : Dims{};
  if (depth > 1)
    indexDims.back() = {rule.add(depth, FactorKind::Whole)};
  Tensor result(indexDims.begin(), indexDims.end() - 1);
  result.append(dataDims.begin() + batch + depth, dataDims.end());
  rule.operands = {dataDims, indexDims};
  rule.results = {result};
  rule.partialThrough = {0};
  return rule;
}

/// Makes the dims of the data Parallel factors: each rank writes the elements
/// of its shard. If the scatter adds numbers, the dims of the indices, except
/// the last, are Sum factors: each rank adds a part of the updates.
ShardingRule ScatterNdOp::getShardingRule() {
  ShardingRule rule;
  auto data = tensorType(getData()).getShape(),
       indices = tensorType(getIndices()).getShape();
  size_t depth = indices.back();
  Tensor dataDims = addDims(rule, data);
  for (size_t i = 0; i < depth; ++i)
    for (int factor : dataDims[i])
      rule.factors[factor].needsOffset = rule.factors[factor].mustBeContiguous =
          true;
  bool sums = getKind() == ScatterKind::Add &&
              !tensorType(getData()).getElementType().isInteger(1);
  Tensor updates = addDims(rule, indices.drop_back(),
                           sums ? FactorKind::Sum : FactorKind::Whole),
         indexDims = updates;
  indexDims.push_back(
      depth > 1 ? Dims{rule.add(static_cast<int64_t>(depth), FactorKind::Whole)}
                : Dims{});
  updates.append(dataDims.begin() + depth, dataDims.end());
  rule.operands = {dataDims, indexDims, updates};
  rule.results = {dataDims};
  passSums(*this, rule);
  return rule;
}

/// Makes all dims of the result Parallel factors (split without communication).
/// One dim is new: one element along it is `on`, all others are `off`. A rank
/// must know at which index its range of the new dim begins.
ShardingRule OneHotOp::getShardingRule() {
  ShardingRule rule;
  auto result = tensorType(getResult()).getShape();
  Tensor dims = addDims(rule, result), indices = dims;
  for (int factor : dims[getDim()])
    rule.factors[factor].needsOffset = true;
  indices.erase(indices.begin() + getDim());
  rule.operands = {indices, {}, {}};
  rule.results = {dims};
  return rule;
}

/// Makes all dims of the indices Sum factors (split into partial sums). Shards
/// of unequal size have padding. The padding of a Sum factor is 0, and 0 is a
/// valid index. If the last dim holds index tuples, it is Whole (not to be
/// split).
ShardingRule CheckIndicesOp::getShardingRule() {
  ShardingRule rule;
  auto shape = tensorType(getIndices()).getShape();
  Tensor dims = addDims(rule, shape, FactorKind::Sum);
  if (getSizes().size() > 1)
    for (int factor : dims.back())
      rule.factors[factor].kind = FactorKind::Whole;
  rule.operands = {dims};
  return rule;
}
