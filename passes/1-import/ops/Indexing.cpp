//===- Indexing.cpp - import of gathers, scatters and one-hot -------------===//

#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/SizeLimit.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Returns operand `i` as an index tensor of type i32 or i64; other types are
/// cast to i64.
static Value indexOperand(NodeImport &n, size_t i) {
  Value indices = n.operand(i);
  if (n.failed())
    return {};
  Type type = n.elementType(i);
  if (type.isInteger(64) || type.isInteger(32))
    return indices;
  return n.cast(indices, n.getBuilder().getI64Type());
}

/// Creates a slice op that reads the elements of `data` at the indices `places`
/// along the dim `dim`, and returns the result of the op. For example, the
/// indices [1, 3, 5] become a slice with the start 1 and the step 2. A negative
/// index counts from the end of the dim. Returns null without an error if the
/// indices are not evenly spaced, such as [1, 2, 5]. Returns null and records
/// an error if an index is out of range.
static Value pickEvenly(NodeImport &n, Value data, int64_t dim,
                        SmallVector<int64_t> places) {
  int64_t size = shapeOf(data)[dim];
  const int64_t needed = places.empty() ? 0 : *llvm::max_element(places) + 1;
  for (int64_t &place : places) {
    if (place < -size || place >= size)
      return n.fail(n.mismatchExitCode,
                    "reads index " + Twine(place) + " along dim " + Twine(dim) +
                        " of '" + StringRef(n.node.inputs.front()) +
                        "', which has " + Twine(size) +
                        adviceOnLimit(n.options, needed, size));
    place += place < 0 ? size : 0;
  }
  int64_t step = places.size() > 1 ? places[1] - places[0] : 1;
  for (size_t i = 1; i < places.size(); ++i)
    if (step == 0 || places[i] - places[i - 1] != step)
      return {};
  SmallVector<int64_t> sizes(shapeOf(data)), starts(sizes.size(), 0),
      steps(sizes.size(), 1);
  starts[dim] = places.front();
  sizes[dim] = places.size();
  steps[dim] = step;
  return n.make<SliceOp>(data, starts, sizes, steps);
}

/// Returns the elements of `data` at `indices` along the dim `dim`, as in the
/// ONNX op Gather. If `indices` is a constant whose elements are evenly spaced,
/// the function creates a slice op. For example, the indices [1, 3, 5] become a
/// slice with the start 1 and the step 2. Other indices, such as [1, 2, 5],
/// become a gather op.
static Value gatherAlong(NodeImport &n, Value data, Value indices,
                         int64_t dim) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(shapeOf(data).take_front(dim));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(data).drop_front(dim + 1));
  DenseElementsAttr known = n.known(indices);
  if (known && known.getNumElements() > 0)
    if (Value part = pickEvenly(n, data, dim, toIntegers(known)))
      return n.reshape(part, shape);
  return n.make<GatherOp>(data, indices, static_cast<uint64_t>(dim));
}

static Value gather(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  return gatherAlong(n, data, indexOperand(n, 1), dim);
}

static Value gatherElements(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  return n.make<GatherElementsOp>(data, indexOperand(n, 1),
                                  static_cast<uint64_t>(dim));
}

namespace {
/// A tensor of indices whose elements vary along at most one dim, stored as a
/// vector. The indices are known during the import. For example, the elements
/// of [[5, 5], [7, 7]] vary along dim 0, and the vector is [5, 7].
struct IndexVector {
  /// Dim along which the index tensor varies, or -1 if all its elements are
  /// equal. The dim is 0 for [[5, 5], [7, 7]].
  int64_t along;
  /// Elements of the index tensor along the dim `along`: [5, 7] for
  /// [[5, 5], [7, 7]]. If all elements are equal, the vector has one element.
  DenseElementsAttr places;
};
} // namespace

/// Converts `part`, a tensor of indices, to a vector. Returns nothing if `part`
/// varies along several dims, or if the elements are not known during the
/// import.
static std::optional<IndexVector> asVector(NodeImport &n, Value part) {
  auto repeated = part.getDefiningOp<BroadcastOp>();
  DenseElementsAttr known = n.known(repeated ? repeated.getInput() : part);
  if (!known)
    return std::nullopt;
  known = dropRepeats(known);
  IndexVector vector{-1, known};
  int64_t missing = shapeOf(part).size() - known.getType().getRank();
  for (auto [dim, size] : llvm::enumerate(known.getType().getShape())) {
    if (size != 1 && vector.along >= 0)
      return std::nullopt;
    if (size != 1)
      vector.along = dim + missing;
  }
  vector.places = known.reshape(
      cast<RankedTensorType>(known.getType()).clone(known.getNumElements()));
  return vector;
}

/// Splits the tuples in the last dim of `indices` into one vector for each
/// element of a tuple. The tuple at [i, j] must be (r[i], c[j]); the result is
/// then r and c. Returns nullopt if the tuples form no such grid, or if the
/// import does not know the elements.
static std::optional<SmallVector<IndexVector>> outerIndices(NodeImport &n,
                                                            Value indices) {
  SmallVector<IndexVector> vectors;
  int64_t last = shapeOf(indices).size() - 1;
  // If a concat along the last dim created `indices`, use the operands of the
  // concat instead of slices. The operands may be known even if the concat has
  // too many elements to be folded.
  auto joined = indices.getDefiningOp<ConcatOp>();
  bool inParts = joined && static_cast<int64_t>(joined.getDim()) == last;
  for (int64_t i = 0; i < shapeOf(indices)[last]; ++i) {
    Value part = inParts ? joined.getInputs()[std::min<size_t>(
                               i, joined.getInputs().size() - 1)]
                         : n.sliceDim(indices, last, i, 1);
    if (n.failed() || shapeOf(part)[last] != 1)
      return std::nullopt;
    auto vector = asVector(n, part);
    if (!vector)
      return std::nullopt;
    vectors.push_back(*vector);
  }
  int64_t before = -1;
  for (const IndexVector &vector : vectors) {
    if (vector.along >= 0 && vector.along <= before)
      return std::nullopt;
    before = std::max(before, vector.along);
  }
  return vectors;
}

/// Creates the result of a GatherND node whose index tuples form a grid, such
/// as result[i, j] = data[r[i], c[j]]. `vectors` are the index vectors from
/// outerIndices(), r and c in this example. The last dims of the result are the
/// dims of `data` for which there is no vector.
static Value gatherOuter(NodeImport &n, Value data, Value indices,
                         ArrayRef<IndexVector> vectors) {
  SmallVector<int64_t> lined(shapeOf(indices).size() - 1, 1), whole;
  for (auto [dim, vector] : llvm::enumerate(vectors)) {
    data = gatherAlong(n, data, n.constant(vector.places), dim);
    if (n.failed())
      return {};
    if (vector.along >= 0)
      lined[vector.along] = vector.places.getNumElements();
  }
  llvm::append_range(whole, shapeOf(indices).drop_back());
  for (int64_t size : shapeOf(data).drop_front(vectors.size())) {
    lined.push_back(size);
    whole.push_back(size);
  }
  return n.broadcast(n.reshape(data, lined), whole);
}

/// Imports GatherND. The last dim of the indices (operand 1) holds tuples of
/// indices into the data (operand 0), such as (row, column). Tuples that
/// combine each row of a list with each column of a list form a grid, such as
/// (5, 0), (5, 1), (7, 0) and (7, 1). If the tuples are a constant grid and
/// batch_dims is 0, the function creates one gather or slice for the rows, and
/// one for the columns. Otherwise, it creates one `graph.gather_nd`.
static Value gatherNd(NodeImport &n) {
  int64_t batch = n.integer("batch_dims", 0);
  if (batch < 0)
    return n.invalid("batch_dims is " + Twine(batch));
  Value data = n.operand(0), indices = indexOperand(n, 1);
  if (n.failed())
    return {};
  bool fits =
      batch == 0 && !shapeOf(indices).empty() && shapeOf(indices).back() > 0 &&
      shapeOf(indices).back() <= static_cast<int64_t>(shapeOf(data).size());
  if (fits)
    if (auto vectors = outerIndices(n, indices))
      return gatherOuter(n, data, indices, *vectors);
  return n.make<GatherNdOp>(data, indices, static_cast<uint64_t>(batch));
}

/// Returns how ScatterElements or ScatterND combines an update with the old
/// element (attribute `reduction`). By default the update replaces the element.
static ScatterKind scatterKind(NodeImport &n) {
  std::string word = n.text("reduction", "none");
  auto kind = llvm::StringSwitch<std::optional<ScatterKind>>(word)
                  .Case("none", ScatterKind::Set)
                  .Case("add", ScatterKind::Add)
                  .Case("mul", ScatterKind::Mul)
                  .Case("max", ScatterKind::Max)
                  .Case("min", ScatterKind::Min)
                  .Default(std::nullopt);
  if (!kind)
    n.invalid("reduction is '" + word + "'");
  return kind.value_or(ScatterKind::Set);
}

static Value scatterElements(NodeImport &n) {
  Value data = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(data).size());
  ScatterKind kind = scatterKind(n);
  return n.make<ScatterElementsOp>(kind, data, indexOperand(n, 1), n.operand(2),
                                   static_cast<uint64_t>(dim));
}

static Value scatterNd(NodeImport &n) {
  ScatterKind kind = scatterKind(n);
  return n.make<ScatterNdOp>(kind, n.operand(0), indexOperand(n, 1),
                             n.operand(2));
}

/// Imports OneHot. The depth (operand 1) must be known during the import.
/// Operand 2 holds the values for off and on.
static Value oneHot(NodeImport &n) {
  Value indices = indexOperand(n, 0), values = n.operand(2);
  SmallVector<int64_t> depth = n.integers(1);
  if (n.failed())
    return {};
  if (depth.size() != 1)
    return n.invalid("needs one depth, got " + sizesText(depth));
  if (depth[0] < 0)
    return n.invalid("needs a depth of at least 0, got " + Twine(depth[0]));
  if (shapeOf(values) != ArrayRef<int64_t>{2})
    return n.invalid("needs two values, off and on, got a tensor of shape " +
                     sizesText(shapeOf(values)));
  SmallVector<int64_t> shape(shapeOf(indices));
  int64_t dim = n.dim("axis", -1, shape.size() + 1);
  shape.insert(shape.begin() + dim, depth[0]);
  Value off = n.reshape(n.sliceDim(values, 0, 0, 1), {}),
        on = n.reshape(n.sliceDim(values, 0, 1, 1), {});
  return n.makeTyped<OneHotOp>(RankedTensorType::get(shape, n.elementType(2)),
                               indices, on, off, static_cast<uint64_t>(dim));
}

void addIndexingOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Gather", 1, 2, 2, gather},
      {"GatherElements", 11, 2, 2, gatherElements},
      {"GatherND", 11, 2, 2, gatherNd},
      {"Scatter", 9, 3, 3, scatterElements},
      {"ScatterElements", 11, 3, 3, scatterElements},
      {"ScatterND", 11, 3, 3, scatterNd},
      {"OneHot", 9, 3, 3, oneHot},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
