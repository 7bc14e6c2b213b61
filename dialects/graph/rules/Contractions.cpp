//===- Contractions.cpp - sharding rules of matmul, einsum, convolutions --===//

#include "dialects/graph/ops/EinsumEquation.h"
#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;

/// Adds a factor (loop index) of `size` to `rule` and returns a list with its
/// id. For size 1, adds no factor and returns an empty list.
static Dims factor(ShardingRule &rule, int64_t size,
                   FactorKind kind = FactorKind::Parallel) {
  return size > 1 ? Dims{rule.add(size, kind)} : Dims{};
}

/// Makes the row, column and batch dims Parallel factors (split without
/// communication). The contracted dim is a Sum factor (split into partial
/// sums).
ShardingRule MatmulOp::getShardingRule() {
  ShardingRule rule;
  auto lhs = tensorType(getLhs()).getShape(),
       rhs = tensorType(getRhs()).getShape(),
       out = tensorType(getResult()).getShape();
  ShardingRule::TensorFactors result = addDims(rule, out);
  Dims k = factor(rule, lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)],
                  FactorKind::Sum);
  auto operand = [&](ArrayRef<int64_t> shape, const Dims &rows,
                     const Dims &columns, bool transposed) {
    ShardingRule::TensorFactors dims(shape.size());
    size_t batch = shape.size() - 2, offset = out.size() - shape.size();
    for (size_t i = 0; i < batch; ++i)
      if (shape[i] > 1)
        dims[i] = result[i + offset];
    dims[batch] = transposed ? columns : rows;
    dims[batch + 1] = transposed ? rows : columns;
    return dims;
  };
  rule.operands.push_back(
      operand(lhs, result[out.size() - 2], k, getTransposeLhs()));
  rule.operands.push_back(
      operand(rhs, k, result[out.size() - 1], getTransposeRhs()));
  rule.results.push_back(result);
  rule.partialThrough = {0, 1};
  return rule;
}

/// Makes each letter of the equation a factor (loop index of the op). Letters
/// of the result are Parallel (split without communication). All other letters
/// are Sum (split into partial sums).
ShardingRule EinsumOp::getShardingRule() {
  ShardingRule rule;
  auto equation = EinsumEquation::parse(getEquation());
  auto sizes = equation->sizes(getInputs().getTypes());
  llvm::SmallDenseMap<char, Dims> factors;
  auto dimsOf = [&](StringRef term) {
    ShardingRule::TensorFactors dims;
    for (char letter : term) {
      if (!factors.contains(letter))
        factors[letter] =
            factor(rule, sizes->lookup(letter),
                   equation->result.contains(letter) ? FactorKind::Parallel
                                                     : FactorKind::Sum);
      dims.push_back(factors[letter]);
    }
    return dims;
  };
  for (StringRef term : equation->operands)
    rule.operands.push_back(dimsOf(term));
  rule.results.push_back(dimsOf(equation->result));
  for (size_t i = 0; i < equation->operands.size(); ++i)
    rule.partialThrough.push_back(i);
  return rule;
}

/// Adds a factor (loop index of the op) of kind Whole (not to be split) to
/// `rule` for each spatial dim of `shape` [N, C, spatial…] that is larger than
/// 1. Returns the factors of each spatial dim.
static ShardingRule::TensorFactors wholeSpatial(ShardingRule &rule,
                                                ArrayRef<int64_t> shape) {
  return addDims(rule, shape.drop_front(2), FactorKind::Whole);
}

/// Appends the factors (loop indices) of the spatial dims of `tensor` to
/// `dims`. `tensor` is an operand or result of a convolution. Ranks must not
/// split these factors.
static void appendSpatial(ShardingRule::TensorFactors &dims, ShardingRule &rule,
                          Value tensor) {
  llvm::append_range(dims, wholeSpatial(rule, tensorType(tensor).getShape()));
}

/// Returns the sharding rule of a grouped convolution, with Whole factors (not
/// to be split) for spatial dims. Ranks that split input channels have partial
/// sums. The filter is [group · out, in, spatial], or
/// [group · in, out, spatial] if `transposed` is true.
static ShardingRule convRule(Operation *op, int64_t group, bool transposed) {
  ShardingRule rule;
  Value input = op->getOperand(0), filter = op->getOperand(1);
  auto shape = tensorType(filter).getShape();
  Dims batch = factor(rule, tensorType(input).getDimSize(0));
  Dims groups = factor(rule, group), in, out;
  if (transposed) {
    in = factor(rule, shape[0] / group, FactorKind::Sum);
    out = factor(rule, shape[1]);
  } else {
    in = factor(rule, shape[1], FactorKind::Sum);
    out = factor(rule, shape[0] / group);
  }
  Dims inputChannels = groups, outputChannels = groups;
  inputChannels.append(in);
  outputChannels.append(out);
  ShardingRule::TensorFactors inputDims{batch, inputChannels};
  ShardingRule::TensorFactors filterDims{outputChannels, in};
  if (transposed)
    filterDims = {inputChannels, out};
  ShardingRule::TensorFactors resultDims{batch, outputChannels};
  appendSpatial(inputDims, rule, input);
  appendSpatial(filterDims, rule, filter);
  appendSpatial(resultDims, rule, op->getResult(0));
  rule.operands = {inputDims, filterDims};
  rule.results = {resultDims};
  rule.partialThrough = {0, 1};
  return rule;
}

/// Returns the sharding rule of a grouped convolution. If ranks split a spatial
/// dim of the result, each rank receives the input elements that its shard of
/// the result needs (halo exchange).
ShardingRule ConvOp::getShardingRule() {
  ShardingRule rule = convRule(*this, getGroup(), /*transposed=*/false);
  SmallVector<int64_t> extents;
  for (auto [window, dilation] : llvm::zip(
           tensorType(getFilter()).getShape().drop_front(2), getDilations()))
    extents.push_back((window - 1) * dilation + 1);
  slideWindows(rule, extents, getStrides(), getPads());
  return rule;
}

ShardingRule ConvTransposeOp::getShardingRule() {
  return convRule(*this, getGroup(), /*transposed=*/true);
}
