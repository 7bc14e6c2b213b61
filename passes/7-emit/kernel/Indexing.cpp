//===- Indexing.cpp - code of gathers and one-hot encodings ---------------===//
//
// An index out of range ends the run by a graph.check_indices. The code of
// gathers only clamps indices, so that a wrong one cannot read outside of the
// data.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::emit;

/// Emits the read of an index as an i64: the element of `tensor` at `at`. A
/// negative index counts from the end of a dim of `size` elements, as in NumPy.
/// The code does not check whether the result is in [0, size).
static Value fromFront(KernelWriter &w, Value tensor, ArrayRef<Index> at,
                       int64_t size) {
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  Value index =
      s.convert(w.read(tensor, at), tensorType(tensor).getElementType(), i64);
  Value isNegative =
      s.compare(arith::CmpIPredicate::slt, index, s.integer(i64, 0));
  return s.select(isNegative, s.add(index, s.integer(i64, size)), index);
}

/// Emits the read of the element of `tensor` at multi-index `at`. The element
/// is itself an index into a dim of `size` elements. The code adds `size` to a
/// negative element, which counts from the end. Then the code clamps the number
/// to [0, size). Example: for `size` = 4, −1 becomes 3, −9 becomes 0 and 7
/// becomes 3. If `size` is 0, each element becomes 0.
static Index lookUp(KernelWriter &w, Value tensor, ArrayRef<Index> at,
                    int64_t size) {
  ScalarBuilder s = w.scalar();
  Type i64 = w.builder.getI64Type();
  int64_t last = std::max<int64_t>(size - 1, 0);
  Value index = fromFront(w, tensor, at, size);
  index = s.larger(index, s.integer(i64, 0), /*isUnsigned=*/false);
  index = s.smaller(index, s.integer(i64, last), /*isUnsigned=*/false);
  return w.indices.leaf(index, 0, last);
}

static Value gather(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto gather = cast<GatherOp>(op);
  int64_t dim = gather.getDim(),
          numIndexDims = tensorType(gather.getIndices()).getRank();
  int64_t size = tensorType(gather.getData()).getDimSize(dim);
  MultiIndex place(at.take_front(dim));
  place.push_back(
      lookUp(w, gather.getIndices(), at.slice(dim, numIndexDims), size));
  llvm::append_range(place, at.drop_front(dim + numIndexDims));
  return w.read(gather.getData(), place);
}

static Value gatherElements(KernelWriter &w, Operation *op,
                            ArrayRef<Index> at) {
  auto gather = cast<GatherElementsOp>(op);
  int64_t dim = gather.getDim();
  MultiIndex place(at);
  place[dim] = lookUp(w, gather.getIndices(), at,
                      tensorType(gather.getData()).getDimSize(dim));
  return w.read(gather.getData(), place);
}

/// Emits the element at `at` of the result of the gather_nd op `op`. Each row
/// along the last dim of the index tensor is a tuple of indices into the data.
/// They select along the dims of the data that follow the batch dims. Example:
/// with 1 batch dim, data [2, 4, 5, 8] and indices [2, 3, 2], result[b, j, k]
/// is data[b, indices[b, j, 0], indices[b, j, 1], k].
static Value gatherNd(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto gather = cast<GatherNdOp>(op);
  auto indices = tensorType(gather.getIndices());
  int64_t batch = gather.getBatchDims(), tuple = indices.getShape().back(),
          lead = indices.getRank() - 1;
  MultiIndex place(at.take_front(batch));
  for (int64_t i = 0; i < tuple; ++i) {
    MultiIndex where(at.take_front(lead));
    where.push_back(IndexSpace::constant(i));
    place.push_back(lookUp(w, gather.getIndices(), where,
                           tensorType(gather.getData()).getDimSize(batch + i)));
  }
  llvm::append_range(place, at.drop_front(lead));
  return w.read(gather.getData(), place);
}

/// Emits the element at `at` of the result of the one-hot op `op`. The element
/// is `on` if its index along the new dim equals the number in the index
/// tensor, else `off`. A negative number counts from the end. A number out of
/// range gives only `off`.
static Value oneHot(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  auto oneHot = cast<OneHotOp>(op);
  int64_t dim = oneHot.getDim();
  int64_t depth = tensorType(oneHot.getResult()).getDimSize(dim);
  MultiIndex place(at);
  place.erase(place.begin() + dim);
  Value index = fromFront(w, oneHot.getIndices(), place, depth);
  Value isHere = w.scalar().compare(arith::CmpIPredicate::eq, index,
                                    w.materialise(at[dim]));
  Value on = w.readScalar(oneHot.getOn()), off = w.readScalar(oneHot.getOff());
  return w.scalar().select(isHere, on, off);
}

void pcc::emit::addIndexingReads(ReadTable &table) {
  table.add<GatherOp>(gather);
  table.add<GatherElementsOp>(gatherElements);
  table.add<GatherNdOp>(gatherNd);
  table.add<OneHotOp>(oneHot);
}
