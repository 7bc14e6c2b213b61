//===- LocalBuilder.cpp - builder of rank-dependent index values ----------===//

#include "passes/5-localize/LocalBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Matchers.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

LocalBuilder::LocalBuilder(Operation *before)
    : TensorBuilder(before), stage(before->getAttr(pipe::stageName)) {}

void LocalBuilder::finish(Operation *op) {
  if (stage)
    op->setAttr(pipe::stageName, stage);
}

Value LocalBuilder::globalIndex(const dist::DimSharding &dim, int64_t size) {
  dist::Sharding sharding = dist::Sharding::whole(1);
  sharding.dims[0] = dim;
  sharding = dist::placement(sharding);
  auto type =
      dist::localType(RankedTensorType::get({size}, getI64Type()), sharding);
  return make<dist::GlobalIndexOp>(
      type, dist::ShardingAttr::get(getContext(), sharding),
      getI64IntegerAttr(size));
}

Value LocalBuilder::along(Value vector, int64_t dim, int64_t rank) {
  assert(dim >= 0 && dim < rank && "no such dim");
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = graph::tensorType(vector).getDimSize(0);
  return reshape(vector, shape);
}

bool pcc::localize::isZero(Value value) {
  if (Operation *op = value.getDefiningOp();
      op && op->getNumOperands() == 1 &&
      (op->hasTrait<graph::IsLayout>() ||
       isa<dist::ReshardOp, dist::CollectiveOp>(op)))
    return isZero(op->getOperand(0));
  if (auto select = value.getDefiningOp<graph::SelectOp>())
    return isZero(select.getOnTrue()) && isZero(select.getOnFalse());
  if (auto pad = value.getDefiningOp<graph::PadOp>())
    return isZero(pad.getInput()) &&
           (!pad.getValue() || isZero(pad.getValue()));
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}
