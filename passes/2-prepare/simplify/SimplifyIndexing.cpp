//===- SimplifyIndexing.cpp - gathers that follow the batch ---------------===//
//
// Exporters pick one element per batch row (such as the last token) with
// indices that spell out the row number:
//
//   gather_nd(x [n, s, d], concat([0, 1, …, n-1], i))
//     ->  gather_nd(x, i) with the rows as a batch dim
//   gather(reshape(x) [n·s, d], i + [0, s, 2s, …])
//     ->  the same, if i is known to lie within [0, s)
//
// With a batch dim in place of row numbers, the batch can be sharded: each rank
// then reads its own rows only.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/simplify/Simplifications.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns the dim of `to` that dim `dim` of `from` becomes by a reshape that
/// only adds or removes dims of size 1. Returns nullopt for other reshapes, or
/// if dim `dim` has size 1.
static std::optional<int64_t>
throughUnitDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
  auto isUnit = [](int64_t size) { return size == 1; };
  auto sizes = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(shape);
    llvm::erase_if(kept, isUnit);
    return kept;
  };
  if (isUnit(from[dim]) || sizes(from) != sizes(to))
    return {};
  int64_t before = dim - llvm::count_if(from.take_front(dim), isUnit);
  for (auto [i, size] : llvm::enumerate(to))
    if (!isUnit(size) && before-- == 0)
      return i;
  return {};
}

/// Returns whether each element of `constant` is `step` times its own index
/// along `dim`. An example is [0, 3, 6] with a step of 3.
static bool countsAlong(ConstantOp constant, int64_t dim, int64_t step = 1) {
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements)
    return false;
  ArrayRef<int64_t> shape = shapeOf(constant);
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    inner *= size;
  for (auto [i, element] : llvm::enumerate(elements.getValues<APInt>()))
    if (element.getSExtValue() !=
        static_cast<int64_t>(i) / inner % shape[dim] * step)
      return false;
  return true;
}

/// Returns whether each element of `value` is known to equal its own index in
/// the dim `dim`. For example, the elements of [[0, 0], [1, 1], [2, 2]] equal
/// their index in dim 0. `value` can be a constant or an iota. It can also be a
/// reshape or a broadcast of a constant or an iota.
static bool countsAlong(Value value, int64_t dim) {
  if (auto constant = definedBy<ConstantOp>(value))
    return countsAlong(constant, dim);
  if (auto iota = definedBy<IotaOp>(value))
    return static_cast<int64_t>(iota.getDim()) == dim;
  if (auto reshape = definedBy<ReshapeOp>(value)) {
    auto before =
        throughUnitDims(shapeOf(value), shapeOf(reshape.getInput()), dim);
    return before && countsAlong(reshape.getInput(), *before);
  }
  if (auto broadcast = definedBy<BroadcastOp>(value)) {
    Value input = broadcast.getInput();
    int64_t before =
        dim - tensorType(value).getRank() + tensorType(input).getRank();
    return before >= 0 && shapeOf(input)[before] == shapeOf(value)[dim] &&
           countsAlong(input, before);
  }
  return false;
}

/// Replaces the row numbers in the indices of a gather_nd by a batch dim.
/// gather_nd(x, [[0, 2], [1, 0], [2, 1]]) becomes gather_nd(x, [[2], [0], [1]],
/// batch_dims = 1). Returns null unless the indices are a concat whose first
/// operand contains the row numbers.
static Value takeRowsAsBatch(GatherNdOp op, PatternRewriter &rewriter) {
  auto concat = definedBy<ConcatOp>(op.getIndices());
  int64_t batch = op.getBatchDims(),
          rank = tensorType(op.getIndices()).getRank();
  if (!concat || static_cast<int64_t>(concat.getDim()) != rank - 1 ||
      concat.getInputs().size() < 2 || batch + 1 >= rank)
    return {};
  Value rows = concat.getInputs().front();
  if (shapeOf(rows).back() != 1 ||
      shapeOf(rows)[batch] != shapeOf(op.getData())[batch] ||
      !countsAlong(rows, batch))
    return {};
  ValueRange others = concat.getInputs().drop_front();
  Value rest = others.front();
  if (others.size() > 1)
    rest = ConcatOp::create(rewriter, concat.getLoc(), others, concat.getDim());
  return GatherNdOp::create(rewriter, op.getLoc(), op.getData(), rest,
                            static_cast<uint64_t>(batch + 1));
}

/// Returns whether each element of `value` is known to be at least 0 and less
/// than `size`. The function recognizes indices that an arg_reduce (ONNX ArgMax
/// or ArgMin) has computed. An arg_reduce along a dim of size n gives indices
/// from 0 to n - 1, so n must be at most `size`. `value` may also be a reshape
/// of the indices, or a cast of the indices to i64.
static bool isPositionWithin(Value value, int64_t size) {
  if (auto reshape = definedBy<ReshapeOp>(value))
    return isPositionWithin(reshape.getInput(), size);
  if (auto cast = definedBy<CastOp>(value))
    return elementTypeOf(value).isInteger(64) &&
           isPositionWithin(cast.getInput(), size);
  auto position = definedBy<ArgReduceOp>(value);
  return position && shapeOf(position.getInput())[position.getDim()] <= size;
}

/// Replaces a gather of x[r, i[r]] for each row r by a gather_nd with a batch
/// dim. For x of shape [n, s, d], gather(reshape(x) [n·s, d], i + s · iota(n))
/// becomes gather_nd(x, i, batch_dims = 1). Returns null for other gathers, and
/// if i may have elements outside [0, s).
static Value takeFlatRowsAsBatch(GatherOp op, PatternRewriter &rewriter) {
  auto merge = definedBy<ReshapeOp>(op.getData());
  auto add = definedBy<AddOp>(op.getIndices());
  if (!merge || !add || op.getDim() != 0)
    return {};
  ArrayRef<int64_t> shape = shapeOf(merge.getInput()),
                    indices = shapeOf(op.getIndices());
  if (shape.size() < 2 || shapeOf(merge).size() + 1 != shape.size() ||
      shapeOf(merge).drop_front() != shape.drop_front(2) ||
      indices != shape.take_front(1))
    return {};
  Value position = otherOperand(add, [&](Value value) {
    auto first = definedBy<ConstantOp>(value);
    return first && shapeOf(value) == indices &&
           countsAlong(first, 0, /*step=*/shape[1]);
  });
  if (!position || shapeOf(position) != indices ||
      !isPositionWithin(position, shape[1]))
    return {};
  auto tuples = tensorType(position).clone({shape[0], 1});
  Value places = ReshapeOp::create(rewriter, add.getLoc(), tuples, position);
  return GatherNdOp::create(rewriter, op.getLoc(), merge.getInput(), places,
                            uint64_t(1));
}

void pcc::prepare::addIndexingSimplifications(RewritePatternSet &patterns) {
  addRewrites(patterns, takeRowsAsBatch, takeFlatRowsAsBatch);
}
