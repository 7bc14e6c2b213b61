//===- Indexing.cpp - types and checks of gathers and scatters ------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

/// Infers the result shape of a gather along `dim`: the data's dims before
/// `dim`, then the dims of the indices, then the data's dims after `dim`.
LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  RankedTensorType data = tensorType(adaptor.getData());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= data.getRank())
    return emitOptionalError(loc, "names dim ", dim, " of ", data);
  SmallVector<int64_t> shape(data.getShape().take_front(dim));
  llvm::append_range(shape, tensorType(adaptor.getIndices()).getShape());
  llvm::append_range(shape, data.getShape().drop_front(dim + 1));
  results.push_back(data.clone(shape));
  return success();
}

/// Emits an error at `op` and fails unless `indices` has elements of type i32
/// or i64.
static LogicalResult checkIndices(Operation *op, Value indices) {
  Type type = tensorType(indices).getElementType();
  if (type.isInteger(64) || type.isInteger(32))
    return success();
  return op->emitOpError("has indices of type ") << indices.getType();
}

LogicalResult GatherOp::verify() { return checkIndices(*this, getIndices()); }

/// Returns the sizes of `count` dims of `data` from dim `first` on.
static SmallVector<int64_t> sizesOf(Value data, int64_t first, int64_t count) {
  return SmallVector<int64_t>(tensorType(data).getShape().slice(first, count));
}

SmallVector<int64_t> GatherOp::getIndexedSizes() {
  return sizesOf(getData(), getDim(), 1);
}
SmallVector<int64_t> GatherElementsOp::getIndexedSizes() {
  return sizesOf(getData(), getDim(), 1);
}
SmallVector<int64_t> GatherNdOp::getIndexedSizes() {
  return sizesOf(getData(), getBatchDims(),
                 tensorType(getIndices()).getShape().back());
}
SmallVector<int64_t> ScatterElementsOp::getIndexedSizes() {
  return sizesOf(getData(), getDim(), 1);
}
SmallVector<int64_t> ScatterNdOp::getIndexedSizes() {
  return sizesOf(getData(), 0, tensorType(getIndices()).getShape().back());
}

LogicalResult CheckIndicesOp::verify() {
  auto type = tensorType(getIndices());
  const size_t count = getSizes().size();
  if (count != 1 && (type.getRank() == 0 ||
                     type.getShape().back() != static_cast<int64_t>(count)))
    return emitOpError("has ") << count << " sizes for indices " << type;
  return checkIndices(*this, getIndices());
}

LogicalResult
GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                   Adaptor adaptor,
                                   SmallVectorImpl<Type> &results) {
  results.push_back(tensorType(adaptor.getData())
                        .clone(tensorType(adaptor.getIndices()).getShape()));
  return success();
}

/// Returns whether `indices` is a valid shape of the indices of a
/// gather_elements or scatter_elements along `dim`. `data` is the shape of the
/// data. Both shapes must have equal rank. Only dim `dim` of `indices` may be
/// larger than the same dim of `data`.
static bool fitsAround(ArrayRef<int64_t> data, ArrayRef<int64_t> indices,
                       uint64_t dim) {
  if (data.size() != indices.size() || dim >= data.size())
    return false;
  for (auto [i, size] : llvm::enumerate(indices))
    if (i != dim && size > data[i])
      return false;
  return true;
}

LogicalResult GatherElementsOp::verify() {
  if (!fitsAround(tensorType(getData()).getShape(),
                  tensorType(getIndices()).getShape(), getDim()))
    return emitOpError("picks from ")
           << getData().getType() << " along dim " << getDim()
           << " with indices " << getIndices().getType();
  return checkIndices(*this, getIndices());
}

/// Infers the result shape of a gather_nd: the shape of the indices without the
/// last dim, then the data dims that an index tuple does not select. For 1
/// batch dim, data [2, 3, 4] and indices [2, 5, 1] give [2, 5, 4].
LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &results) {
  RankedTensorType data = tensorType(adaptor.getData()),
                   indices = tensorType(adaptor.getIndices());
  int64_t batch = adaptor.getBatchDims();
  if (indices.getRank() == 0 || batch < 0 || batch >= indices.getRank() ||
      batch + indices.getShape().back() > data.getRank() ||
      data.getShape().take_front(batch) != indices.getShape().take_front(batch))
    return emitOptionalError(loc, "picks from ", data, " with index tuples ",
                             indices);
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(
      shape, data.getShape().drop_front(batch + indices.getShape().back()));
  results.push_back(data.clone(shape));
  return success();
}

LogicalResult GatherNdOp::verify() { return checkIndices(*this, getIndices()); }

LogicalResult
ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getData().getType());
  return success();
}

/// Emits an error with the types of the updates, indices and data of a scatter,
/// which do not fit together. Returns failure.
template <typename ScatterOp> static LogicalResult refuseWrite(ScatterOp op) {
  return op.emitOpError("writes ")
         << op.getUpdates().getType() << " at " << op.getIndices().getType()
         << " into " << op.getData().getType();
}

/// Emits an error and fails unless these conditions hold:
///
///  - The updates and the data of a scatter have one element type.
///  - The indices have elements of type i32 or i64.
template <typename ScatterOp>
static LogicalResult checkWrittenTypes(ScatterOp op) {
  if (failed(checkSameElements(op, {op.getData(), op.getUpdates()})))
    return failure();
  return checkIndices(op, op.getIndices());
}

LogicalResult ScatterElementsOp::verify() {
  if (tensorType(getIndices()).getShape() !=
          tensorType(getUpdates()).getShape() ||
      !fitsAround(tensorType(getData()).getShape(),
                  tensorType(getIndices()).getShape(), getDim()))
    return refuseWrite(*this);
  return checkWrittenTypes(*this);
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getData().getType());
  return success();
}

/// Verifies a scatter_nd. The updates must have one slice of the data per index
/// tuple. Three tuples of one index into data [4, 5] need updates [3, 5].
LogicalResult ScatterNdOp::verify() {
  auto data = tensorType(getData()).getShape(),
       indices = tensorType(getIndices()).getShape();
  if (indices.empty() || indices.back() > static_cast<int64_t>(data.size()))
    return emitOpError("writes into ")
           << getData().getType() << " at index tuples "
           << getIndices().getType();
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.drop_front(indices.back()));
  if (ArrayRef<int64_t>(shape) != tensorType(getUpdates()).getShape())
    return refuseWrite(*this);
  return checkWrittenTypes(*this);
}

LogicalResult OneHotOp::verify() {
  auto result = tensorType(getResult()).getShape(),
       indices = tensorType(getIndices()).getShape();
  if (result.size() != indices.size() + 1 || getDim() >= result.size())
    return emitOpError("makes ")
           << getType() << " of indices " << getIndices().getType()
           << " with a new dim " << getDim();
  if (failed(checkSameElements(*this, {getResult(), getOn(), getOff()})))
    return failure();
  return checkIndices(*this, getIndices());
}
