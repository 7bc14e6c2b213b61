//===- ExpandScans.cpp - expansion of running sums along a split dim ------===//

#include "passes/4-shard/expand/Expansions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Replaces a cumulative sum by several simpler ops. Ranks split the dim along
/// which the op adds elements. The dim is cut into parts, one part per rank.
/// The new ops compute these values:
///
/// 1. the cumulative sum of the elements of each part alone
/// 2. for each part, the total of all elements in earlier parts
/// 3. the result, which is the sum of 1 and 2
///
/// Example with two parts:
///
///               part 0   part 1
///   input       1  2     3  4
///   1           1  3     3  7
///   2           0        3
///   3, result   1  3     6 10
///
/// If the op has the attribute `reverse`, a cumulative sum starts at the last
/// element. Value 2 is then the total of all elements in later parts.
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
