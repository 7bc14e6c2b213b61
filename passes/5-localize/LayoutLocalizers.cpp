//===- LayoutLocalizers.cpp - ops whose attributes speak of sizes ---------===//

#include "passes/5-localize/LocalOp.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// A dim that is taken whole takes what is local; one of n blocks begins at as
/// many local blocks.
static Value localizeSlice(LocalOp &local, PositionBuilder &) {
  auto slice = cast<graph::SliceOp>(local.op);
  SmallVector<int64_t> starts(slice.getStarts()), sizes(slice.getSizes());
  for (auto [i, dim] : llvm::enumerate(local.rule.results[0])) {
    if (dim.empty() || !local.isSplit(dim.front()))
      continue;
    int64_t block = sizes[i];
    sizes[i] = dist::localDim(local.dimSharding(dim), block);
    starts[i] = starts[i] / block * sizes[i];
  }
  slice.setStarts(starts);
  slice.setSizes(sizes);
  return {};
}

/// A mean over a split dim still divides by the logical count.
static Value localizeReduce(LocalOp &local, PositionBuilder &builder) {
  auto reduce = cast<graph::ReduceOp>(local.op);
  if (reduce.getKind() != graph::ReduceKind::Mean || reduce.getDivisor())
    return {};
  int64_t count = 1;
  for (int64_t dim : reduce.getDims())
    count *= local.operandTypes[0].getDimSize(dim);
  reduce.setDivisorAttr(builder.getI64IntegerAttr(count));
  return {};
}

/// The group count of a convolution whose groups (its first factor but one) are
/// split.
template <typename Conv>
static Value localizeConv(LocalOp &local, PositionBuilder &) {
  auto conv = cast<Conv>(local.op);
  if (conv.getGroup() > 1) {
    int group = local.rule.operands[0][1].front();
    conv.setGroup(local.localSize(group));
  }
  return {};
}

/// Every rank has all of a constant and takes its part.
static Value localizeConstant(LocalOp &local, PositionBuilder &builder) {
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
      builder.getI64IntegerAttr(0), builder.getStringAttr("constant"));
}

void pcc::localize::addLayoutLocalizers(Localizers &localizers) {
  localizers.add<graph::SliceOp>(localizeSlice);
  localizers.add<graph::ReduceOp>(localizeReduce);
  localizers.add<graph::ConvOp>(localizeConv<graph::ConvOp>);
  localizers.add<graph::ConvTransposeOp>(localizeConv<graph::ConvTransposeOp>);
  localizers.add<graph::ConstantOp>(localizeConstant);
}
