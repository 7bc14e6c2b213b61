//===- ExpandSelections.cpp - expansion of arg-reduce and top-k -----------===//

#include "passes/4-shard/expand/Expansions.h"
#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the narrowest of i32 and i64 that can hold the indices of a dim of
/// `size` elements. Indices are communicated, so narrow ones cost less.
static Type indexType(OpBuilder &b, int64_t size) {
  return size > INT32_MAX ? b.getI64Type() : b.getI32Type();
}

/// Returns a tensor of Booleans that is true where `x` equals `top`, the
/// largest (or smallest) value of `x` along one dim. Where `top` is NaN, it is
/// true if `x` is NaN.
static Value isExtreme(ShardedBuilder &b, Value x, Value top) {
  Value equal = b.compare(graph::Predicate::Equal, x, top);
  if (!isa<FloatType>(graph::tensorType(x).getElementType()))
    return equal;
  return b.make<graph::SelectOp>(b.make<graph::IsNanOp>(top),
                                 b.make<graph::IsNanOp>(x), equal);
}

/// Replaces an arg-reduce (arg-max or arg-min) along a split dim by ordinary
/// ops. Example of an arg-max with two parts:
///
///                                        part 0   part 1
///   input                                3  7     7  1
///   1. largest value over all parts      7        7
///   2. indices where the input is 7      -  1     2  -
///   3. result: smallest of the indices   1        1
///
/// With the attribute `last`, the result is the largest of the indices, 2.
/// Steps 1 and 3 are all-reduces.
static SmallVector<Value, 2> expandArgReduce(const ShardedOp &op,
                                             ShardedBuilder &b) {
  auto arg = cast<graph::ArgReduceOp>(op.op);
  Value x = arg.getInput();
  CutDim cut(op, arg.getDim());
  Value top = b.reduce(arg.getKind(), x, cut.dim);
  Value index = b.iota(cut.whole, cut.dim, graph::tensorType(x).getRank(),
                       indexType(b, cut.whole), cut.sharding);
  Value none = b.scalarLike(index, arg.getLast() ? -1 : cut.whole);
  Value found = b.make<graph::SelectOp>(isExtreme(b, x, top), index, none);
  auto nearest =
      arg.getLast() ? graph::ReduceKind::Max : graph::ReduceKind::Min;
  return {
      b.cast(b.reduce(nearest, found, cut.dim, arg.getKeep()), b.getI64Type())};
}

/// Returns the indices in a split dim of the k elements that a top-k selects. A
/// top-k of each part has selected candidates, and `index` has their indices in
/// their part. The candidates of all parts form a list of shape `flat`.
/// `winners` has the positions of the k winners in this list. Example with 2
/// parts of 4 elements, in which the winners 3 and 0 give the result 6 and 1:
///
///                        part 0   part 1
///   `index`              1  3     0  2
///   indices in the dim   1  3     4  6
static Value winningIndices(ShardedBuilder &b, const CutDim &cut, Value index,
                            Value winners, ArrayRef<int64_t> flat) {
  Type type = indexType(b, cut.count * cut.size);
  dist::DimSharding parts;
  parts.factors = {{cut.count, cut.sharding.axes()}};
  int64_t rank = graph::tensorType(index).getRank();
  Value first = b.iota(cut.count, cut.dim, rank, type, parts);
  first = b.make<graph::MulOp>(first, b.scalar(type, cut.size));
  Value global = b.make<graph::AddOp>(b.cast(index, type), first);
  Value chosen = b.make<graph::GatherElementsOp>(
      b.reshape(global, flat), winners, b.getI64IntegerAttr(cut.dim));
  return b.cast(chosen, b.getI64Type());
}

/// Replaces a top-k along a dim that ranks split. A top-k of each part selects
/// candidates, and a top-k of all candidates selects the result. If a part has
/// fewer than k elements, all of them are candidates. For k = 2 and 8 elements
/// on 2 ranks, each part of 4 elements gives 2 candidates. If elements are
/// equal, the element with the lowest index is selected first, as in the
/// original top-k. Padding follows the last element, so it is selected after
/// all elements that are equal to it.
static SmallVector<Value, 2> expandTopK(const ShardedOp &op,
                                        ShardedBuilder &b) {
  auto topK = cast<graph::TopKOp>(op.op);
  CutDim cut(op, topK.getDim());
  int64_t k = topK.getK(), own = std::min(k, cut.size);
  auto select = [&](Value from, int64_t count, int64_t dim) {
    return b.makeOp<graph::TopKOp>(from, b.getI64IntegerAttr(count),
                                   b.getI64IntegerAttr(dim),
                                   topK.getLargestAttr());
  };
  ArrayRef<int64_t> shape = graph::tensorType(topK.getInput()).getShape();
  Value x = b.padDim(topK.getInput(), cut.dim, cut.count * cut.size,
                     topK.getLargest() ? -infinity : infinity);
  graph::TopKOp candidates =
      select(b.reshape(x, cut.cut(shape, cut.size)), own, cut.dim + 1);
  SmallVector<int64_t> flat(shape);
  flat[cut.dim] = cut.count * own;
  graph::TopKOp winners =
      select(b.reshape(candidates.getValues(), flat), k, cut.dim);
  if (topK.getIndices().use_empty())
    return {winners.getValues(), {}};
  return {winners.getValues(), winningIndices(b, cut, candidates.getIndices(),
                                              winners.getIndices(), flat)};
}

void pcc::shard::addSelectionExpansions(Expansions &expansions) {
  expansions.add<graph::ArgReduceOp>(expandArgReduce);
  expansions.add<graph::TopKOp>(expandTopK);
}
