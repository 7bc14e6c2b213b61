//===- Indexing.cpp - sharding rules of gathers and scatters --------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;
using Tensor = ShardingRule::TensorFactors;

/// Returns the sharding rule of a gather with constant indices. The gathered
/// dim is read through a window: each rank receives the elements that its shard
/// of the result needs. All other dims are Parallel factors (split without
/// communication).
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

/// Makes the gathered dim of the data a Sum factor. If the dim is split, each
/// rank reads the slices that it has, and uses zeros for all other slices. The
/// sum over the ranks is the result (vocabulary-parallel embedding;
/// Megatron-LM, Shoeybi et al. 2019).
ShardingRule GatherOp::getShardingRule() {
  if (auto stretches = constantStretches(*this); !stretches.empty())
    return constantGatherRule(*this, stretches);
  ShardingRule rule;
  size_t dim = getDim();
  Tensor data = addDims(rule, tensorType(getData()).getShape()),
         indices = addDims(rule, tensorType(getIndices()).getShape());
  // The gathered dim of a boolean tensor is Whole (not to be split), because
  // the sum over the ranks is not defined for booleans.
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

/// Adds factors to `rule` for the dims of `data` and `indices`, two shapes of
/// equal rank. If a dim other than `dim` has the same size in both shapes, both
/// shapes share one Parallel factor (split without communication). All other
/// dims are separate Whole factors (not to be split).
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

/// Makes the gathered dim of the data a Sum factor. If the dim is split, each
/// rank reads the elements that it has, and uses zeros for all other elements.
/// The sum over the ranks is the result.
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

/// Lets the updates of a scatter be partial sums if the scatter adds the
/// updates to a tensor of zeros. The result of the scatter is then a partial
/// sum, too.
template <typename Op> static void passSums(Op op, ShardingRule &rule) {
  if (op.getKind() == ScatterKind::Add && isZeros(op.getData()))
    rule.partialThrough = {2};
}

/// Makes the dim along which elements are written a Parallel factor (split
/// without communication). Each rank writes those updates whose index lies in
/// its shard of the result.
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

/// Makes the dims of the data that the index tuples address Whole factors (not
/// to be split), and also the last dim of the indices, which holds the tuples.
/// All other dims are Parallel factors (split without communication).
///   data [3, 4], indices [5, 1], result [5, 4]:  3 Whole, 4 and 5 Parallel
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
/// of its shard. If the scatter adds numbers, makes the dims of the indices,
/// except the last, Sum factors. If such a dim is split:
/// - Each rank adds a part of the updates.
/// - One rank starts from the data, and all others from zeros.
/// - The result is the sum over the ranks.
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
/// If the dim that one_hot adds is split, each rank needs the first index of
/// its range of that dim.
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

/// Makes all dims Sum factors, so that padding becomes 0, which is a valid
/// index. The last dim is whole if it holds tuples, whose indices have
/// different bounds.
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
