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

/// Returns the indices of the k elements that a top-k selects along a dim.
/// Ranks split this dim into equal parts, which `cut` describes. The caller has
/// already built the two steps of the top-k:
///
/// 1. In each part, a top-k selects some elements. These are the candidates.
/// 2. The candidates of all parts form one list. A top-k of this list selects k
///    elements. These are the winners.
///
/// The parameters are
///
/// - `index`: the index of each candidate in its part
/// - `winners`: the position of each winner in the list of candidates
/// - `flat`: the shape of the list
///
/// Example with k = 2. The dim has 8 elements. Part 0 contains the elements 0
/// to 3, and part 1 contains the elements 4 to 7:
///
///                                           part 0   part 1
///   `index`                                 1  3     0  2
///   index of the first element of the part  0        4
///   sum: index of the candidate in the dim  1  3     4  6
///
/// The list of candidates thus has the indices 1, 3, 4 and 6. If `winners`
/// contains the positions 3 and 0, the result contains the indices 6 and 1.
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

/// Replaces a top-k by several simpler ops. Ranks split the dim in which the
/// top-k searches. Example with k = 2, where 2 ranks split 8 elements:
///
///   step                                         shape
///   input                                        [8]
///   1. cut the elements into one part per rank   [2 parts, 4]
///   2. in each part, select 2 candidates         [2 parts, 2]
///   3. join the candidates of all parts          [4]
///   4. select 2 of all candidates                [2]
///
/// If a part has fewer than k elements, all its elements are candidates. If the
/// ranks cannot divide the elements evenly, padding follows the last element.
/// If elements are equal, the element with the lowest index is selected first,
/// as in the original top-k.
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
