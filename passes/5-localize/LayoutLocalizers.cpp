//===- LayoutLocalizers.cpp - ops with global sizes, and constants --------===//

#include "passes/5-localize/LocalOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// Sets the divisor of a mean to the global number of elements. Changes the op
/// in place, and returns null, because the op stays.
static Value localizeReduce(LocalOp &local, LocalBuilder &builder) {
  auto reduce = cast<graph::ReduceOp>(local.op);
  if (reduce.getKind() != graph::ReduceKind::Mean || reduce.getDivisor())
    return {};
  int64_t count = 1;
  for (int64_t dim : reduce.getDims())
    count *= local.operandTypes[0].getDimSize(dim);
  reduce.setDivisorAttr(builder.getI64IntegerAttr(count));
  return {};
}

/// Adapts a split constant to local shapes: every rank holds the whole
/// constant, and a slice keeps the rank's part. Returns null if the constant is
/// replicated.
static Value localizeConstant(LocalOp &local, LocalBuilder &builder) {
  dist::ShardingAttr to = dist::shardingOf(local.op->getResult(0));
  auto type = local.resultTypes[0];
  if (!to || dist::isReplicated(to.getSharding()))
    return {};
  builder.setInsertionPointAfter(local.op);
  auto whole = dist::ShardingAttr::get(builder.getContext(),
                                       dist::Sharding::whole(type.getRank()));
  auto kind = dist::CollectiveKindAttr::get(builder.getContext(),
                                            dist::CollectiveKind::Slice);
  return builder.make<dist::CollectiveOp>(
      dist::localType(type, to.getSharding()), kind, local.op->getResult(0),
      whole, to, builder.getDenseI64ArrayAttr(type.getShape()),
      builder.getI64IntegerAttr(0), builder.getStringAttr("constant"),
      ValueRange());
}

void pcc::localize::addLayoutLocalizers(Localizers &localizers) {
  localizers.add<graph::ReduceOp>(localizeReduce);
  localizers.add<graph::ConstantOp>(localizeConstant);
}
