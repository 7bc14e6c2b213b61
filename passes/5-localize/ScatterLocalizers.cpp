//===- ScatterLocalizers.cpp - ops that write at computed indices ---------===//

#include "passes/5-localize/OwnedIndices.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;
using graph::ShardingRule;

/// Pads `data` with zeros: appends more[d] elements at the end of each dim d.
static Value widen(LocalBuilder &builder, Value data, ArrayRef<int64_t> more) {
  auto type = graph::tensorType(data);
  SmallVector<int64_t> none(type.getRank(), 0);
  return builder.make<graph::PadOp>(
      graph::PadModeAttr::get(builder.getContext(), graph::PadMode::Constant),
      data, builder.scalar(type.getElementType(), 0),
      builder.getDenseI64ArrayAttr(none), builder.getDenseI64ArrayAttr(more));
}

/// Builds a slice: the part of `value` that starts at index 0 of each dim and
/// has the shape `shape`.
static Value cutOff(LocalBuilder &builder, Value value,
                    ArrayRef<int64_t> shape) {
  SmallVector<int64_t> none(shape.size(), 0), steps(shape.size(), 1);
  return builder.make<graph::SliceOp>(value, none, shape, steps);
}

/// Adapts to local shapes a scatter_elements whose dim is split. Each rank
/// writes the elements that it owns. Writes to other elements go to one
/// additional index at the end of the rank's data, which is cut off afterwards.
/// Returns null if the dim is not split.
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

/// Builds a value that is `data` on one rank and zeros on all other ranks, so
/// that the sum over the ranks is `data`. The one rank is the first along all
/// axes that split `dims`. Each entry of `dims` lists the factors of one dim in
/// the sharding rule of `local` (like letters of an einsum).
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

/// Converts tuples of global indices to tuples of local indices into a tensor
/// of the local type `data`. The index of an element of another rank becomes
/// the local size of the split dim d, one past its end. In this case, sets
/// more[d] to 1, so that the caller pads the dim by one element. Example:
///
///   rank 1 of 2 owns 4 to 7 of 8:   global 2, 6 -> local 4, 2
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

/// Adapts a scatter_nd to local shapes.
///
/// - A write to an element of another rank goes to an additional index at the
///   end of the rank's data, which is cut off afterwards.
/// - If the index tuples are split over ranks, a later collective adds the
///   results of the ranks. One rank then writes into the data, and the other
///   ranks write into zeros.
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
