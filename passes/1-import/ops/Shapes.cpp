//===- Shapes.cpp - import of constants and ops on shapes -----------------===//

#include "passes/1-import/build/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Imports Shape as a constant. Since opset 15 the attributes `start` and `end`
/// select the dims [start, end).
static Value shape(NodeImport &n) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  int64_t rank = shapeOf(x).size(), start = n.integer("start", 0),
          end = n.integer("end", rank);
  auto clamp = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  start = clamp(start);
  end = std::max(start, clamp(end));
  return n.indices(shapeOf(x).slice(start, end - start));
}

static Value size(NodeImport &n) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  return n.scalar(tensorType(x).getNumElements(), n.getBuilder().getI64Type());
}

/// Creates a constant of rank 1 that holds `values` as elements of type `type`.
template <typename T>
static Value vectorOf(NodeImport &n, ArrayRef<T> values, Type type) {
  auto shaped =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, type);
  return n.constant(DenseElementsAttr::get(shaped, values));
}

/// Imports Constant. Depending on its type, the value is in the attribute
/// value, value_int, value_float, value_ints or value_floats.
static Value constant(NodeImport &n) {
  Builder &b = n.getBuilder();
  if (n.hasAttribute("value_int"))
    return n.scalar(n.integer("value_int", 0), b.getI64Type());
  if (n.hasAttribute("value_float"))
    return n.scalar(n.real("value_float", 0), b.getF32Type());
  if (auto values = n.integerList("value_ints"))
    return vectorOf<int64_t>(n, *values, b.getI64Type());
  if (auto values = n.realList("value_floats")) {
    SmallVector<float> floats(values->begin(), values->end());
    return vectorOf<float>(n, floats, b.getF32Type());
  }
  if (const onnx::Tensor *tensor = n.tensor("value"))
    return n.constantTensor(*tensor);
  if (n.failed())
    return {};
  if (n.hasAttribute("sparse_value") || n.hasAttribute("value_string") ||
      n.hasAttribute("value_strings"))
    return n.unsupported("holds a sparse tensor or strings");
  return n.invalid("lacks the attribute 'value'");
}

/// Imports ConstantOfShape as a scalar constant that is broadcast.
static Value constantOfShape(NodeImport &n) {
  SmallVector<int64_t> shape = n.integers(0);
  Value fill;
  if (const onnx::Tensor *tensor = n.tensor("value"))
    fill = n.constantTensor(*tensor);
  else
    fill = n.scalar(0, n.getBuilder().getF32Type());
  if (n.failed())
    return {};
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
      llvm::product_of(shapeOf(fill)) != 1)
    return n.invalid("has a negative dim or a value of several elements");
  return n.broadcast(n.reshape(fill, {}), shape);
}

/// Imports Range as start + delta · iota. All three operands must be known
/// during the import, because the number of elements follows from them.
static Value range(NodeImport &n) {
  SmallVector<double> bounds;
  for (size_t i = 0; i < 3; ++i) {
    SmallVector<double> bound = n.doubles(i);
    if (n.failed() || bound.size() != 1 || !std::isfinite(bound[0]))
      return n.invalid("has a bound that is not a finite number");
    bounds.push_back(bound[0]);
  }
  if (bounds[2] == 0)
    return n.invalid("has a step of 0");
  double count = std::max(0.0, std::ceil((bounds[1] - bounds[0]) / bounds[2]));
  if (!(count <= maxElements))
    return n.invalid("counts more than 2^48 elements");
  Value index =
      n.cast(n.iota({static_cast<int64_t>(count)}, 0), n.elementType(0));
  if (bounds[2] != 1)
    index = n.mul(index, n.reshape(n.operand(2), {}));
  return bounds[0] == 0 ? index : n.add(index, n.reshape(n.operand(0), {}));
}

/// Imports EyeLike. The result is a matrix with the shape of operand 0. The
/// element at (row, column) is 1 if column = row + k, and otherwise 0. The
/// attribute `k` selects the diagonal: for k = 1 it starts at (0, 1). The
/// created ops generate the row and column indices and compare them. The
/// program therefore does not contain the whole matrix as a constant.
static Value eyeLike(NodeImport &n) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  if (shapeOf(x).size() != 2)
    return n.invalid("makes a diagonal of rank " + Twine(shapeOf(x).size()));
  int64_t diagonal = std::clamp(n.integer("k", 0), -maxElements, maxElements);
  Value rows = n.iota({shapeOf(x)[0], 1}, 0),
        columns = n.iota({1, shapeOf(x)[1]}, 1);
  Value hit = n.compare(Predicate::Equal, columns,
                        n.add(rows, n.scalarLike(rows, diagonal)));
  return n.cast(hit, n.hasAttribute("dtype") ? n.typeOf(n.integer("dtype", 1))
                                             : n.elementType(0));
}

/// Imports NonZero. Its result has one column for each element that is not 0,
/// and row d holds the indices along dim d. The number of columns depends on
/// the elements, so the operand must be known at compile time.
static Value nonZero(NodeImport &n) {
  SmallVector<double> values = n.doubles(0);
  Value x = n.operand(0);
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<SmallVector<int64_t>> places(shape.size());
  for (auto [flat, value] : llvm::enumerate(values)) {
    if (value == 0)
      continue;
    int64_t left = flat;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      places[dim].push_back(left % shape[dim]);
      left /= shape[dim];
    }
  }
  SmallVector<int64_t> all;
  for (const auto &list : places)
    llvm::append_range(all, list);
  int64_t count = places.empty() ? 0 : places[0].size();
  auto type = RankedTensorType::get({static_cast<int64_t>(shape.size()), count},
                                    n.getBuilder().getI64Type());
  return n.constant(DenseElementsAttr::get(type, ArrayRef<int64_t>(all)));
}

void addShapeOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Shape", 1, 1, 1, shape},
      {"Size", 1, 1, 1, size},
      {"Constant", 1, 0, 0, constant},
      {"ConstantOfShape", 9, 1, 1, constantOfShape},
      {"Range", 11, 3, 3, range},
      {"EyeLike", 9, 1, 1, eyeLike},
      {"NonZero", 9, 1, 1, nonZero},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
