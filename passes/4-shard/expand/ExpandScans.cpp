//===- ExpandScans.cpp - expansion of running sums along a split dim ------===//

#include "passes/4-shard/expand/Expansions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Replaces a cumulative sum along a split dim. The new ops add the total of
/// all earlier shards to the cumulative sum within each shard (of all later
/// shards, with the attribute `reverse`).
static SmallVector<Value, 2> expandCumSum(const ShardedOp &op,
                                          ShardedBuilder &b) {
  auto scan = cast<graph::CumSumOp>(op.op);
  CutDim cut(op, scan.getDim());
  SmallVector<int64_t> shape(graph::tensorType(scan.getInput()).getShape());
  auto sums = [&](Value x, int64_t dim, bool exclusive) {
    return b.make<graph::CumSumOp>(x.getType(), x, b.getI64IntegerAttr(dim),
                                   exclusive ? b.getUnitAttr() : UnitAttr(),
                                   scan.getReverseAttr());
  };
  Value padded = b.padDim(scan.getInput(), cut.dim, cut.count * cut.size, 0);
  Value parts = b.reshape(padded, cut.cut(shape, cut.size));
  Value totals = b.reduce(graph::ReduceKind::Sum, parts, cut.dim + 1);
  Value before = sums(totals, cut.dim, /*exclusive=*/true);
  Value own = sums(parts, cut.dim + 1, scan.getExclusive());
  Value y = b.make<graph::AddOp>(own, before);
  shape[cut.dim] = cut.count * cut.size;
  return {b.sliceDim(b.reshape(y, shape), cut.dim, 0, cut.whole)};
}

void pcc::shard::addScanExpansions(Expansions &expansions) {
  expansions.add<graph::CumSumOp>(expandCumSum);
}
