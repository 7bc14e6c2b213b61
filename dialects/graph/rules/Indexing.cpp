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

/// Returns the sharding rule of a gather. If ranks split the gathered dim of
/// the data, each rank returns the slices that it holds, and zeros for the
/// slices that other ranks hold. The results are summed (vocabulary-parallel
/// embedding; Megatron-LM, Shoeybi et al. 2019).
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

/// Adds factors (loop indices) for two operands of a gather_elements or
/// scatter_elements to `rule`. A dim other than `dim` with equal sizes gets one
/// common Parallel factor. All other dims get separate Whole factors (not to be
/// split).
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

/// Returns the sharding rule of gather_elements. If ranks split the gathered
/// dim of the data, each rank returns the elements that it holds, and 0 for the
/// elements that other ranks hold. The results are summed over the ranks. For
/// Booleans, ranks must not split this dim.
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

/// Marks in `rule`, the sharding rule of the scatter `op`, that the updates may
/// be a partial sum (one summand per rank). The result is then a partial sum,
/// too. Marks this only if `op` adds the updates to zeros. If `op` added the
/// updates to ones, the sum over 4 ranks would count each 1 four times.
template <typename Op> static void passSums(Op op, ShardingRule &rule) {
  if (op.getKind() == ScatterKind::Add && isZeros(op.getData()))
    rule.partialThrough = {2};
}

/// Returns the sharding rule of scatter_elements. If ranks split `dim` of the
/// data, each rank applies the updates of its own shard. Ranks can also split
/// any other dim in which data and indices have equal sizes.
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

/// Returns the sharding rule of scatter_nd. If ranks split the data, each rank
/// writes only to its own shard. If ranks split the updates, the result is a
/// partial sum (one summand per rank). This needs kind Add, and no Booleans.
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

/// Returns the sharding rule of one_hot, which replaces each index by a vector
/// along a new dim: `on` at the index, and `off` elsewhere. Ranks can split all
/// dims of the result without communication. If ranks split the new dim, each
/// rank must know at which index its shard begins. With a vector of 8 elements
/// on 2 ranks, the shard of rank 1 begins at index 4.
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

/// Returns the sharding rule of check_indices, which ends the run if an index
/// is out of range. Split dims have the kind Sum, although the op adds nothing:
/// the compiler then pads a shard with zeros, and the index 0 is in range.
/// Ranks must not split a dim of index tuples.
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
