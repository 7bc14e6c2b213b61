//===- OwnedIndices.cpp - masks and offsets of indices into a split dim ---===//

#include "passes/5-localize/OwnedIndices.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

OwnedIndices::OwnedIndices(LocalBuilder &builder, const LocalOp &local,
                           Value indices,
                           const graph::ShardingRule::DimFactors &factors,
                           int64_t size, int64_t owned) {
  Type type = graph::tensorType(indices).getElementType();
  Value zero = builder.scalar(type, 0), end = builder.scalar(type, size);
  Value negative = builder.compare(graph::Predicate::Less, indices, zero);
  Value global = builder.make<graph::SelectOp>(
      negative, builder.make<graph::AddOp>(indices, end), indices);
  Value positions = builder.globalIndex(local.dimSharding(factors), size);
  Value first =
      builder.make<graph::SliceOp>(positions, ArrayRef<int64_t>{0},
                                   ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
  first = builder.cast(builder.reshape(first, {}), type);
  offset = builder.make<graph::SubOp>(global, first);
  mine = builder.make<graph::AndOp>(
      builder.compare(graph::Predicate::GreaterOrEqual, offset, zero),
      builder.compare(graph::Predicate::Less, offset,
                      builder.scalar(type, owned)));
}

Value OwnedIndices::orElse(LocalBuilder &builder, int64_t other) const {
  Type type = graph::tensorType(offset).getElementType();
  return builder.make<graph::SelectOp>(mine, offset,
                                       builder.scalar(type, other));
}
