//===- Indexing.cpp - gradients of gathers and scatters -------------------===//
//
// The gradient of a gather is a scatter that adds into zeros, and the gradient
// of a scatter is a gather. If a gather reads a single index along its dim, its
// gradient needs no scatter: an element-wise comparison of that index with 0,
// 1, 2, … selects the element.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/gradients/ScatterGradients.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Builds a tensor with the elements 0, 1, 2, … along dim `dim`. The tensor has
/// the rank of `data` and the element type of `indices`. The size of its dim
/// `dim` is the size of dim `dim` of `data`. All other dims have size 1:
///
///   data of shape [4, 3], dim 1:  [[0, 1, 2]], which has the shape [1, 3]
static Value positions(GradientBuilder &b, Value data, int64_t dim,
                       Value indices) {
  SmallVector<int64_t> shape(tensorType(data).getRank(), 1);
  shape[dim] = tensorType(data).getDimSize(dim);
  return b.make<IotaOp>(
      RankedTensorType::get(shape, tensorType(indices).getElementType()),
      static_cast<uint64_t>(dim));
}

/// Builds the gradient of `data` for a gather that reads one element of each
/// line along `dim`: `gradient` at `index`, and 0 elsewhere. `index` holds one
/// index for all lines (rank 0) or one per line.
static Value gatherOneBack(GradientBuilder &b, Value gradient, Value index,
                           Value data, int64_t dim) {
  Value size =
      b.like(index, static_cast<double>(tensorType(data).getDimSize(dim)));
  Value isNegative = b.compare(Predicate::Less, index, b.like(index, 0));
  Value place = b.select(isNegative, b.add(index, size), index);
  return b.where(
      b.compare(Predicate::Equal, positions(b, data, dim, index), place),
      gradient);
}

Value pcc::graph::gatherBack(GradientBuilder &b, ScatterKind kind,
                             Value gradient, Value indices, Value data,
                             int64_t dim) {
  SmallVector<int64_t> single(tensorType(data).getShape());
  single[dim] = 1;
  if (tensorType(indices).getShape() == ArrayRef(single))
    return gatherOneBack(b, gradient, indices, data, dim);
  return b.make<ScatterElementsOp>(kind, b.zeros(tensorType(data)), indices,
                                   gradient, static_cast<uint64_t>(dim));
}

/// Appends a dim of size 1 to `indices`. Each index becomes an index tuple of
/// length 1 for scatter_nd.
static Value tuples(GradientBuilder &b, Value indices) {
  SmallVector<int64_t> shape(tensorType(indices).getShape());
  shape.push_back(1);
  return b.reshape(indices, shape);
}

/// Returns the permutation that moves the dims [first, first + count) of `rank`
/// dims to the front. All other dims keep their order.
static SmallVector<int64_t> inFront(int64_t rank, int64_t first,
                                    int64_t count) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq(first, first + count));
  llvm::append_range(perm, llvm::seq<int64_t>(0, first));
  llvm::append_range(perm, llvm::seq(first + count, rank));
  return perm;
}

/// Builds the gradient of the data operand: scatters `dy`, the gradient of the
/// result, into zeros. The transposes move the gathered dim to the front, where
/// scatter_nd needs it.
Gradients GatherOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  RankedTensorType data = tensorType(getData());
  int64_t dim = getDim();
  Value dy = gradients.front();
  if (tensorType(getIndices()).getNumElements() == 1) {
    SmallVector<int64_t> single(data.getShape());
    single[dim] = 1;
    return onlyGradient(gatherOneBack(
        b, b.reshape(dy, single), b.reshape(getIndices(), {}), getData(), dim));
  }
  SmallVector<int64_t> dataPerm = inFront(data.getRank(), dim, 1);
  Value rows = b.transpose(dy, inFront(tensorType(dy).getRank(), dim,
                                       tensorType(getIndices()).getRank()));
  SmallVector<int64_t> shape =
      applyPermutation(data.getShape(), ArrayRef(dataPerm));
  Value sum = b.make<ScatterNdOp>(ScatterKind::Add, b.zeros(data.clone(shape)),
                                  tuples(b, getIndices()), rows);
  return onlyGradient(b.transpose(sum, invertPermutationVector(dataPerm)));
}

Gradients GatherElementsOp::buildGradients(GradientBuilder &b,
                                           ValueRange gradients) {
  return onlyGradient(gatherBack(b, ScatterKind::Add, gradients.front(),
                                 getIndices(), getData(), getDim()));
}

/// Turns the indices of `op`, a gather_nd with batch dims, into indices for a
/// scatter_nd. Each index tuple gets its batch indices in front. With 1 batch
/// dim, the tuple (7) in batch 2 becomes (2, 7).
static Value wholeTuples(GradientBuilder &b, GatherNdOp op) {
  RankedTensorType indices = tensorType(op.getIndices());
  SmallVector<int64_t> shape(indices.getShape());
  shape.back() = 1;
  SmallVector<Value> parts;
  for (uint64_t dim = 0; dim < op.getBatchDims(); ++dim)
    parts.push_back(b.make<IotaOp>(indices.clone(shape), dim));
  parts.push_back(op.getIndices());
  return b.make<ConcatOp>(parts, static_cast<uint64_t>(shape.size() - 1));
}

Gradients GatherNdOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value indices = getBatchDims() ? wholeTuples(b, *this) : getIndices();
  return onlyGradient(b.make<ScatterNdOp>(ScatterKind::Add,
                                          b.zeros(tensorType(getData())),
                                          indices, gradients.front()));
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Builds the gradients of `op`, a scatter of updates into data. read() builds
/// the gradient of the updates. clear(zeros) builds `dy` with 0 at the
/// scattered indices; `zeros` has the shape of the updates. Fails with an error
/// unless the kind is Set or Add.
template <typename Op, typename Read, typename Clear>
static Gradients scatter(GradientBuilder &b, Op op, Value dy, Read read,
                         Clear clear) {
  if (op.getKind() != ScatterKind::Set && op.getKind() != ScatterKind::Add)
    return op.emitOpError("has no gradient for kind ")
           << stringifyScatterKind(op.getKind());
  SmallVector<Value> operands(3);
  if (b.wants(op.getData()))
    operands[0] = op.getKind() == ScatterKind::Add
                      ? dy
                      : clear(b.zeros(tensorType(op.getUpdates())));
  if (b.wants(op.getUpdates()))
    operands[2] = read();
  return operands;
}

Gradients ScatterElementsOp::buildGradients(GradientBuilder &b,
                                            ValueRange gradients) {
  Value dy = gradients.front();
  return scatter(
      b, *this, dy,
      [&] { return b.make<GatherElementsOp>(dy, getIndices(), getDim()); },
      [&](Value zeros) {
        return b.make<ScatterElementsOp>(ScatterKind::Set, dy, getIndices(),
                                         zeros, getDim());
      });
}

Gradients ScatterNdOp::buildGradients(GradientBuilder &b,
                                      ValueRange gradients) {
  Value dy = gradients.front();
  return scatter(
      b, *this, dy,
      [&] { return b.make<GatherNdOp>(dy, getIndices(), uint64_t(0)); },
      [&](Value zeros) {
        return b.make<ScatterNdOp>(ScatterKind::Set, dy, getIndices(), zeros);
      });
}

//===----------------------------------------------------------------------===//
// one_hot
//===----------------------------------------------------------------------===//

Gradients OneHotOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front();
  Type boolean = b.getI1Type();
  Value isOn =
      b.make<OneHotOp>(tensorType(dy).clone(boolean), getIndices(),
                       b.scalar(boolean, 1), b.scalar(boolean, 0), getDim());
  SmallVector<Value> operands(3);
  if (b.wants(getOn()))
    operands[1] = b.sumTo(b.where(isOn, dy), getOn());
  if (b.wants(getOff()))
    operands[2] = b.sumTo(b.except(isOn, dy), getOff());
  return operands;
}
