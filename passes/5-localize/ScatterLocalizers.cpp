//===- ScatterLocalizers.cpp - ops that write at computed indices ---------===//

#include "passes/5-localize/OwnedIndices.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;
using graph::ShardingRule;

/// Pads `data` with more[d] zeros at the end of each dim d.
static Value widen(LocalBuilder &builder, Value data, ArrayRef<int64_t> more) {
  auto type = graph::tensorType(data);
  SmallVector<int64_t> none(type.getRank(), 0);
  return builder.make<graph::PadOp>(
      graph::PadModeAttr::get(builder.getContext(), graph::PadMode::Constant),
      data, builder.scalar(type.getElementType(), 0),
      builder.getDenseI64ArrayAttr(none), builder.getDenseI64ArrayAttr(more));
}

/// Builds a slice of the shape `shape` from the start of `value`.
static Value cutOff(LocalBuilder &builder, Value value,
                    ArrayRef<int64_t> shape) {
  SmallVector<int64_t> none(shape.size(), 0), steps(shape.size(), 1);
  return builder.make<graph::SliceOp>(value, none, shape, steps);
}

/// Adapts a scatter_elements to local shapes. If ranks do not split the dim
/// along which the op scatters, changes nothing and returns null. If they split
/// it, the shard of the data gets one extra index at the end of this dim: [4,
/// 8] becomes [5, 8] for dim 0. Updates that belong to other ranks are written
/// to the extra index. A slice then removes the extra index.
static Value localizeScatterElements(LocalOp &local, LocalBuilder &builder) {
  auto scatter = cast<graph::ScatterElementsOp>(local.op);
  int64_t dim = scatter.getDim();
  const auto &factors = local.rule.operands[0][dim];
  if (!local.isSplit(factors))
    return {};
  Value data = scatter.getData();
  auto type = graph::tensorType(data);
  int64_t owned = type.getDimSize(dim);
  OwnedIndices own(builder, local, scatter.getIndices(), factors,
                   local.operandTypes[0].getDimSize(dim), owned);
  SmallVector<int64_t> more(type.getRank(), 0);
  more[dim] = 1;
  Value written = builder.make<graph::ScatterElementsOp>(
      scatter.getKindAttr(), widen(builder, data, more),
      own.orElse(builder, owned), scatter.getUpdates(),
      builder.getI64IntegerAttr(dim));
  return cutOff(builder, written, type.getShape());
}

/// Returns `data` on the ranks whose shard of the index tuples begins at index
/// 0 in each split dim, and zeros on all other ranks. `local` is a scatter_nd
/// that writes into `data`. If ranks split the index tuples, a later collective
/// adds the results of all ranks, and the sum must contain `data` only once.
/// `dims` lists the factors (loop indices of the op) of each dim of the tensor
/// of tuples.
static Value onFirstParts(LocalBuilder &builder, const LocalOp &local,
                          Value data, ArrayRef<ShardingRule::DimFactors> dims) {
  Value zero = builder.scalar(graph::tensorType(data).getElementType(), 0);
  for (const ShardingRule::DimFactors &dim : dims) {
    if (!local.isSplit(dim))
      continue;
    Value index = builder.globalIndex(local.dimSharding(dim),
                                      local.rule.factors[dim.front()].size);
    Value first = builder.reshape(cutOff(builder, index, {1}), {});
    data = builder.make<graph::SelectOp>(
        builder.compare(graph::Predicate::Equal, first,
                        builder.scalar(builder.getI64Type(), 0)),
        data, zero);
  }
  return data;
}

/// Converts the index tuples of the scatter_nd `local` to indices into this
/// rank's shard of the data, which has the type `data`. If ranks split dim d of
/// the data, an index along dim d that belongs to another rank becomes the size
/// of dim d of the shard. more[d] then becomes 1: the caller must lengthen dim
/// d of the shard by one index.
static Value ownTuples(LocalBuilder &builder, const LocalOp &local,
                       Value indices, RankedTensorType data,
                       MutableArrayRef<int64_t> more) {
  SmallVector<int64_t> shape(graph::tensorType(indices).getShape()),
      start(shape.size(), 0), steps(shape.size(), 1);
  const int64_t depth = shape.back();
  shape.back() = 1;
  SmallVector<Value> columns;
  for (int64_t dim = 0; dim < depth; ++dim) {
    start.back() = dim;
    Value column = builder.make<graph::SliceOp>(indices, start, shape, steps);
    const auto &factors = local.rule.operands[0][dim];
    if (local.isSplit(factors)) {
      more[dim] = 1;
      int64_t owned = data.getDimSize(dim);
      column = OwnedIndices(builder, local, column, factors,
                            local.operandTypes[0].getDimSize(dim), owned)
                   .orElse(builder, owned);
    }
    columns.push_back(column);
  }
  if (depth == 1)
    return columns.front();
  return builder.make<graph::ConcatOp>(
      columns,
      builder.getI64IntegerAttr(static_cast<int64_t>(start.size()) - 1));
}

/// Adapts a scatter_nd to local shapes. There are two cases, which may occur
/// together:
///
/// - Ranks split the index tuples. A later collective adds the results of the
///   ranks. Only one rank therefore writes its updates into the data, and all
///   other ranks write theirs into zeros.
/// - Ranks split a dim of the data to which the tuples refer. The shard of the
///   data gets one extra index at the end of this dim, to which updates of
///   other ranks are written. A slice then removes the extra index.
///
/// Returns null if the second case does not occur; the op then stays.
static Value localizeScatterNd(LocalOp &local, LocalBuilder &builder) {
  auto scatter = cast<graph::ScatterNdOp>(local.op);
  auto type = graph::tensorType(scatter.getData());
  Value data =
      onFirstParts(builder, local, scatter.getData(), local.rule.operands[1]);
  size_t depth = graph::tensorType(scatter.getIndices()).getShape().back();
  if (llvm::none_of(
          ArrayRef(local.rule.operands[0]).take_front(depth),
          [&](const auto &factors) { return local.isSplit(factors); })) {
    scatter.getDataMutable().assign(data);
    return {};
  }
  SmallVector<int64_t> more(type.getRank(), 0);
  Value tuples = ownTuples(builder, local, scatter.getIndices(), type, more);
  Value written = builder.make<graph::ScatterNdOp>(
      scatter.getKindAttr(), widen(builder, data, more), tuples,
      scatter.getUpdates());
  return cutOff(builder, written, type.getShape());
}

void pcc::localize::addScatterLocalizers(Localizers &localizers) {
  localizers.add<graph::ScatterElementsOp>(localizeScatterElements);
  localizers.add<graph::ScatterNdOp>(localizeScatterNd);
}
