//===- Indexing.cpp - evaluators of gathers and scatters ------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

/// Adds `size` to a negative `index`, which counts from the end of a dim.
/// Returns whether the new `index` is in [0, size).
static bool normalise(int64_t &index, int64_t size) {
  index += index < 0 ? size : 0;
  return index >= 0 && index < size;
}

/// Fails with the error that `index` is out of range for a dim of `size`
/// elements.
static LogicalResult failOutside(Evaluation &e, int64_t index, int64_t size,
                                 int64_t dim) {
  return e.fail("has index " + Twine(index) + " outside [" + Twine(-size) +
                ", " + Twine(size) + ") of dim " + Twine(dim));
}

/// Evaluates gather. Checks all indices before it copies any element.
static LogicalResult gather(Evaluation &e) {
  const HostTensor &data = e.in(0);
  int64_t dim = cast<GatherOp>(e.op).getDim();
  DimView view(data.shape, dim);
  std::vector<int64_t> indices = e.in(1).ints;
  for (auto [i, index] : llvm::enumerate(indices))
    if (!normalise(index, view.size))
      return failOutside(e, e.in(1).ints[i], view.size, dim);
  withStorage(data.kind, [&](auto zero) {
    using T = decltype(zero);
    T *out = e.out().data<T>();
    for (int64_t outer = 0; outer < view.numOuter; ++outer)
      for (int64_t index : indices)
        out = std::copy_n(data.data<T>() + view.at(outer, index, 0),
                          view.numInner, out);
  });
  return success();
}

/// Visits the elements of `indices`, an operand of gather_elements or
/// scatter_elements. Each selects the element of `data` at its own coordinates,
/// but with its value as the coordinate along `dim`. Calls `visit` with two
/// row-major indices: of the element in `indices`, and of the selected element
/// in `data`. Fails if a value is out of range.
template <typename Visit>
static LogicalResult forEachElementIndex(Evaluation &e, const HostTensor &data,
                                         const HostTensor &indices, int64_t dim,
                                         Visit visit) {
  Strides strides = rowMajor(data.shape);
  int64_t size = data.shape[dim], stride = std::exchange(strides[dim], 0);
  LogicalResult status = success();
  forEachRow<2>(indices.shape, {rowMajor(indices.shape), strides},
                [&](auto at, int64_t count, auto step) {
                  for (int64_t i = 0; i < count && succeeded(status); ++i) {
                    int64_t index = indices.ints[at[0] + i];
                    if (!normalise(index, size))
                      status =
                          failOutside(e, indices.ints[at[0] + i], size, dim);
                    else
                      visit(at[0] + i, at[1] + i * step[1] + index * stride);
                  }
                });
  return status;
}

static LogicalResult gatherElements(Evaluation &e) {
  return withStorage(e.out().kind, [&](auto zero) {
    using T = decltype(zero);
    return forEachElementIndex(
        e, e.in(0), e.in(1), cast<GatherElementsOp>(e.op).getDim(),
        [&](int64_t position, int64_t place) {
          e.out().data<T>()[position] = e.in(0).data<T>()[place];
        });
  });
}

/// Visits the index tuples of a gather_nd or scatter_nd: the vectors along the
/// last dim of `indices`. Calls visit(tuple, place) with the number of the
/// tuple and the row-major index of the first selected element in `data`. Fails
/// if an index is out of range.
template <typename Visit>
static LogicalResult forEachTuple(Evaluation &e, const HostTensor &data,
                                  const HostTensor &indices, int64_t batchDims,
                                  Visit visit) {
  int64_t length = indices.shape.back();
  Strides strides = rowMajor(data.shape);
  ArrayRef<int64_t> batch = ArrayRef(data.shape).take_front(batchDims);
  int64_t numBatches = ShapedType::getNumElements(batch);
  int64_t perBatch = ShapedType::getNumElements(
      ArrayRef(indices.shape).drop_back().drop_front(batchDims));
  int64_t batchSize =
      ShapedType::getNumElements(ArrayRef(data.shape).drop_front(batchDims));
  for (int64_t tuple = 0; tuple < numBatches * perBatch; ++tuple) {
    int64_t place = tuple / perBatch * batchSize;
    for (int64_t i = 0; i < length; ++i) {
      int64_t dim = batchDims + i, index = indices.ints[tuple * length + i];
      if (!normalise(index, data.shape[dim]))
        return failOutside(e, indices.ints[tuple * length + i], data.shape[dim],
                           dim);
      place += index * strides[dim];
    }
    visit(tuple, place);
  }
  return success();
}

/// Returns the number of elements of `data` that one index tuple of a gather_nd
/// or scatter_nd selects.
static int64_t sliceSize(const HostTensor &data, const HostTensor &indices,
                         int64_t batchDims) {
  return ShapedType::getNumElements(
      ArrayRef(data.shape).drop_front(batchDims + indices.shape.back()));
}

static LogicalResult gatherNd(Evaluation &e) {
  int64_t batchDims = cast<GatherNdOp>(e.op).getBatchDims();
  int64_t size = sliceSize(e.in(0), e.in(1), batchDims);
  return withStorage(e.out().kind, [&](auto zero) {
    using T = decltype(zero);
    return forEachTuple(e, e.in(0), e.in(1), batchDims,
                        [&](int64_t tuple, int64_t place) {
                          std::copy_n(e.in(0).data<T>() + place, size,
                                      e.out().data<T>() + tuple * size);
                        });
  });
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Returns the element that a scatter of `kind` stores: `update` for Set,
/// otherwise the sum, product, maximum or minimum of `update` and `old`.
template <typename T> static T combine(ScatterKind kind, T old, T update) {
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Add:
    return wrappingAdd(old, update);
  case ScatterKind::Mul:
    return wrappingMul(old, update);
  case ScatterKind::Max:
    return larger(old, update);
  case ScatterKind::Min:
    return smaller(old, update);
  }
  return update;
}

static LogicalResult scatterElements(Evaluation &e) {
  auto op = cast<ScatterElementsOp>(e.op);
  e.out() = e.in(0);
  return withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    T *out = e.out().data<T>();
    return forEachElementIndex(
        e, e.in(0), e.in(1), op.getDim(), [&](int64_t position, int64_t place) {
          out[place] =
              combine(op.getKind(), out[place], e.in(2).data<T>()[position]);
        });
  });
}

static LogicalResult scatterNd(Evaluation &e) {
  auto op = cast<ScatterNdOp>(e.op);
  e.out() = e.in(0);
  int64_t size = sliceSize(e.in(0), e.in(1), 0);
  return withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    return forEachTuple(
        e, e.in(0), e.in(1), 0, [&](int64_t tuple, int64_t place) {
          T *out = e.out().data<T>() + place;
          for (int64_t i = 0; i < size; ++i)
            out[i] = combine(op.getKind(), out[i],
                             e.in(2).data<T>()[tuple * size + i]);
        });
  });
}

/// Evaluates one_hot. For each index in operand 0, the result has a vector with
/// operand 1 at the index and operand 2 elsewhere. A negative index counts from
/// the end. An index out of range gives only operand 2.
static LogicalResult oneHot(Evaluation &e) {
  const HostTensor &indices = e.in(0);
  HostTensor &out = e.out();
  DimView view(out.shape, cast<OneHotOp>(e.op).getDim());
  withStorage(out.kind, [&](auto zero) {
    using T = decltype(zero);
    T *elements = out.data<T>();
    std::fill_n(elements, out.numElements(), e.in(2).data<T>()[0]);
    for (int64_t i = 0; i < indices.numElements(); ++i) {
      int64_t index = indices.ints[i];
      if (normalise(index, view.size))
        elements[view.at(i / view.numInner, index, i % view.numInner)] =
            e.in(1).data<T>()[0];
    }
  });
  return success();
}

void pcc::graph::addIndexingEvaluators(EvaluatorTable &table) {
  table.add<GatherOp>(gather);
  table.add<GatherElementsOp>(gatherElements);
  table.add<GatherNdOp>(gatherNd);
  table.add<ScatterElementsOp>(scatterElements);
  table.add<ScatterNdOp>(scatterNd);
  table.add<OneHotOp>(oneHot);
}
