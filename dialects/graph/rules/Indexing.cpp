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

/// Returns the sharding rule of a gather, which reads slices of the data at
/// indices along one dim. Ranks may split this dim of the data, except for
/// Booleans. Each rank then reads the slices that it has. The rank gives zeros
/// for the slices of other ranks. The sum of the results of all ranks is the
/// gathered tensor (vocabulary-parallel embedding; Megatron-LM, Shoeybi et al.
/// 2019). Example with 8 data rows on 2 ranks:
///
///   indices                         1      6
///   result on rank 0 (rows 0 to 3)  row 1  0
///   result on rank 1 (rows 4 to 7)  0      row 6
///
/// Some gathers with constant indices have another rule: constantGatherRule().
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

/// Adds factors (loop indices) to `rule`, the sharding rule of a
/// gather_elements or scatter_elements op. `data` and `indices` are the shapes
/// of two operands of equal rank. Appends the factors of each dim to `dataDims`
/// and `indexDims`. In each dim except `dim`, operands of equal size have one
/// common Parallel factor. All other dims have separate Whole factors, which
/// ranks must not split. A dim of size 1 has no factor. For the data [3, 6],
/// the indices [3, 2] and `dim` 1, the factor 3 is common, and 6 and 2 are
/// Whole.
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

/// Returns the sharding rule of gather_elements, which reads single elements of
/// the data at indices along one dim. Ranks may split this dim of the data,
/// except for Booleans. Each rank then reads the elements that it has. The rank
/// gives 0 for the elements of other ranks. The sum of the results of all ranks
/// is the gathered tensor. Example with 8 data elements on 2 ranks:
///
///   indices                             1          6
///   result on rank 0 (elements 0 to 3)  element 1  0
///   result on rank 1 (elements 4 to 7)  0          element 6
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

/// Returns the sharding rule of scatter_elements, which changes elements of the
/// data at indices along `dim`.
///
///  - Ranks can split `dim` of the data and the result without communication.
///    Each rank applies the updates whose indices are in its shard of the
///    result. Ranks must not split `dim` of the updates and the indices.
///  - Ranks can split any other dim without communication if the data and the
///    indices have the same size in the dim. Otherwise, ranks must not split
///    it.
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

/// Returns the sharding rule of scatter_nd, which writes updates into a copy of
/// the data. The last dim of the indices holds index tuples. Each index tuple
/// says where one update is written. Ranks may split these dims:
///
///  - All dims of the data. Each rank writes only to its own shard.
///  - All dims of the indices except the last one, if the op adds the updates
///    and the data holds numbers. Each rank then adds some of the updates. The
///    result is a partial sum: each rank has one summand.
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
/// along a new dim. The vector has the element `on` at the position that the
/// index gives. The vector has the element `off` at all other positions. Ranks
/// can split all dims of the result without communication. If ranks split the
/// new dim, each rank must know the position at which its part begins. With 8
/// positions on 2 ranks, the part of rank 1 begins at position 4.
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
/// is out of range. Ranks may split all dims of the indices. Each rank then
/// checks its own indices. If the last dim holds index tuples, ranks must not
/// split that dim.
///
/// The dims that ranks may split get the kind Sum, although the op adds
/// nothing. If a dim does not divide evenly among the ranks, the last ranks
/// have padding. The compiler sets the padding to 0 if the kind is Sum. The
/// index 0 is in range, so the check never fails because of padding.
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
