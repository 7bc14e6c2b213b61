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

/// Adapts `local`, a scatter_elements, to local shapes (shapes of one rank's
/// shard). A scatter_elements copies a tensor, the data. It then writes each
/// update to the element of the copy at a given index along one dim. Ranks may
/// split this dim. Each rank then appends one extra element to its shard of
/// this dim. A rank writes an update to the extra element if another rank owns
/// the element at the index. Finally, each rank cuts the extra element off.
/// Example: 2 ranks split a dim of 8 elements. Rank 1 owns the elements 4 to 7,
/// and the extra element has the local index 4:
///
///   global index   local index on rank 1
///   2              4
///   6              2
///
/// Returns the value that replaces the result of the op. Returns null if ranks
/// do not split the dim. The op then stays.
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

/// Returns `data` on some ranks and zeros on all others. `data` is the tensor
/// into which `local`, a scatter_nd, writes updates. Each update has an index
/// tuple, which says where the update is written. If ranks split the index
/// tuples, each rank writes only its own updates. A later collective adds the
/// results of all ranks. The sum must contain `data` only once, so only one
/// rank may start from `data`. For example, 2 ranks split 6 index tuples:
///
///   rank   index tuples   returns
///   0      0, 1, 2        data
///   1      3, 4, 5        zeros
///
/// The tensor of index tuples may have several dims that ranks split. A rank
/// gets `data` if its shard of this tensor begins at index 0 of each such dim.
/// `dims` has one entry for each dim of this tensor. An entry lists the loop
/// indices of the op that run over the dim, such as k for dim 1 of the lhs of
/// the matmul [m,k] x [k,n]. `builder` creates the new ops.
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

/// Converts `indices`, the index tuples of the scatter_nd `local`, from global
/// to local indices. An index tuple has one index for each of the first dims of
/// the data operand. For example, the tuple (2, 5) refers to row 2, column 5 of
/// a matrix. `data` is the type of the data operand on one rank. If ranks split
/// dim d, there are two cases:
///
/// - The rank owns the element. The local index is the position of the element
///   in the rank's shard.
/// - Another rank owns the element. The local index is the size of dim d on
///   this rank, so it refers to an extra element behind the shard.
///
/// For each such dim d, the function sets more[d] to 1. The caller appends
/// more[d] elements to dim d. Example: 2 ranks split a dim of 8 elements.
/// Rank 1 owns the elements 4 to 7, so the extra element has the local index 4:
///
///   global index   local index on rank 1
///   2              4
///   6              2
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

/// Adapts `local`, a scatter_nd, to local shapes (shapes of one rank's shard).
/// A scatter_nd writes updates into a copy of the data. An index tuple says
/// where one update is written. Ranks may split two things:
///
/// - The dims of the data to which the index tuples refer. Each rank appends an
///   extra element to its shard of such a dim. Updates for elements of other
///   ranks go to the extra element, which is then cut off.
/// - The index tuples. Each rank writes the updates of its own index tuples,
///   and a later collective adds the results of all ranks. One rank starts from
///   the data. All other ranks start from zeros, so that the sum contains the
///   data only once.
///
/// Returns the value that replaces the result of the op. Returns null if ranks
/// split no dim of the data to which the index tuples refer. The op then stays.
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
