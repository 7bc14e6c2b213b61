//===- ExpandSelections.cpp - expansion of arg-reduce and top-k -----------===//

#include "passes/4-shard/expand/Expansions.h"
#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the narrowest of i32 and i64 that can hold the indices of a dim of
/// `size` elements. Ranks send indices to each other, and narrow indices need
/// fewer bytes.
static Type indexType(OpBuilder &b, int64_t size) {
  return size > INT32_MAX ? b.getI64Type() : b.getI32Type();
}

/// Returns a tensor of Booleans that is true where `x` equals `top`, the
/// largest (or smallest) value of `x` along one dim. If `top` is NaN, the
/// result is true where `x` is NaN.
static Value isExtreme(ShardedBuilder &b, Value x, Value top) {
  Value equal = b.compare(graph::Predicate::Equal, x, top);
  if (!isa<FloatType>(graph::tensorType(x).getElementType()))
    return equal;
  return b.make<graph::SelectOp>(b.make<graph::IsNanOp>(top),
                                 b.make<graph::IsNanOp>(x), equal);
}

/// Replaces an arg-max or arg-min along a split dim by simpler ops. These need
/// two all-reduces: one for the largest (or smallest) value, and one for the
/// smallest index at which an element has this value. With the attribute
/// `last`, the second one finds the largest index.
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

/// Returns the global indices of the elements that a top-k selects. Each shard
/// has chosen its own candidates. `index` has the index of each candidate
/// within its shard. `winners` has the indices of the selected elements in the
/// list of the candidates of all shards. `flat` is the shape of this list. For
/// example, with 2 shards of 10 elements and 3 candidates each, entry 4 of the
/// list is the candidate 1 of shard 1. If the index of this candidate within
/// its shard is 7, its global index is 17.
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

/// Replaces a top-k along a split dim by two others: the first selects
/// candidates in each shard, and the second selects from the candidates of all
/// shards. Padding is -infinity (infinity if the top-k selects the smallest
/// elements), and is behind all elements of the tensor. A top-k selects the
/// first of equal elements, so it never selects padding.
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
