//===- ShardedBuilder.cpp - builder of ops with inferred shardings --------===//

#include "passes/4-shard/expand/ShardedBuilder.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

ShardedBuilder::ShardedBuilder(const ShardedOp &op)
    : TensorBuilder(op.op), stage(op.op->getAttr(pipe::stageName)) {
  for (OpOperand &operand : op.op->getOpOperands())
    wanted.try_emplace(operand.get(),
                       op.operandSharding(operand.getOperandNumber()));
}

dist::Sharding ShardedBuilder::shardingOf(Value value) const {
  if (auto it = wanted.find(value); it != wanted.end())
    return it->second;
  dist::ShardingAttr sharding = dist::shardingOf(value);
  return sharding ? sharding.getSharding()
                  : dist::Sharding::whole(graph::tensorType(value).getRank());
}

void ShardedBuilder::finish(Operation *op) {
  if (stage)
    op->setAttr(pipe::stageName, stage);
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value value) { return shardingOf(value); });
  shard::record(propagateFromOperands(op, operands));
}

Value ShardedBuilder::iota(int64_t size, int64_t dim, int64_t rank, Type type,
                           const dist::DimSharding &split) {
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = size;
  auto iota = makeOp<graph::IotaOp>(RankedTensorType::get(shape, type),
                                    getI64IntegerAttr(dim));
  dist::Sharding sharding = dist::Sharding::whole(rank);
  sharding.dims[dim] = split;
  shard::record(propagateFromResult(iota, sharding));
  return iota;
}

Value ShardedBuilder::widen(Value value) {
  bool narrow = graph::tensorType(value).getElementTypeBitWidth() < 32;
  return narrow ? cast(value, getF32Type()) : value;
}

Value ShardedBuilder::reduce(graph::ReduceKind kind, Value value,
                             ArrayRef<int64_t> dims, bool keep) {
  return make<graph::ReduceOp>(graph::ReduceKindAttr::get(getContext(), kind),
                               value, getDenseI64ArrayAttr(dims),
                               keep ? getUnitAttr() : UnitAttr(),
                               IntegerAttr());
}

Value ShardedBuilder::sliceDim(Value value, int64_t dim, int64_t start,
                               int64_t size) {
  SmallVector<int64_t> sizes(graph::tensorType(value).getShape()),
      starts(sizes.size(), 0), steps(sizes.size(), 1);
  if (sizes[dim] == size)
    return value;
  starts[dim] = start;
  sizes[dim] = size;
  auto slice = makeOp<graph::SliceOp>(value, starts, sizes, steps);
  return resized(slice, value, dim);
}

Value ShardedBuilder::resized(Operation *op, Value value, int64_t dim) {
  Value result = op->getResult(0);
  dist::Sharding sharding = shardingOf(value);
  sharding.dims[dim] = dist::splitOver(
      graph::tensorType(result).getDimSize(dim), sharding.dims[dim].axes());
  shard::record(propagateFromResult(op, sharding));
  return result;
}

Value ShardedBuilder::takeAlong(Value value, int64_t dim,
                                ArrayRef<int64_t> indices) {
  auto type = RankedTensorType::get({static_cast<int64_t>(indices.size())},
                                    getI64Type());
  Value from =
      make<graph::ConstantOp>(type, DenseElementsAttr::get(type, indices));
  auto gather = makeOp<graph::GatherOp>(value, from, getI64IntegerAttr(dim));
  return resized(gather, value, dim);
}

Value ShardedBuilder::padDim(Value value, int64_t dim, int64_t size,
                             double filling) {
  auto type = graph::tensorType(value);
  if (type.getDimSize(dim) == size)
    return value;
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
  high[dim] = size - type.getDimSize(dim);
  auto pad = makeOp<graph::PadOp>(
      graph::PadModeAttr::get(getContext(), graph::PadMode::Constant), value,
      scalarLike(value, filling), getDenseI64ArrayAttr(low),
      getDenseI64ArrayAttr(high));
  return resized(pad, value, dim);
}
