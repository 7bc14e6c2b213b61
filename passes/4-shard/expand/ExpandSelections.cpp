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

/// Replaces an arg-max or arg-min along a split dim by simpler ops. They need
/// two all-reduces: for the extreme value, then for its smallest index. The
/// attribute `last` selects the largest index instead.
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

/// Returns the global indices of the elements that a top-k selects. `index` has
/// the index of each candidate within its shard. `winners` has indices into the
/// list of all candidates, whose shape is `flat`.
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

/// Replaces a top-k along a split dim by a top-k of each shard and a top-k of
/// all candidates. Padding is never selected: it comes last, and of equal
/// elements the first is selected.
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
