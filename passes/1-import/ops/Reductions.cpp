//===- Reductions.cpp - import of reductions, running sums and top-k ------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Returns the dims that a Reduce node reduces. `rank` is the rank of the
/// reduced tensor. The attribute `axes` (older opsets) or operand 1 (newer
/// opsets) lists these dims. If the list is absent or empty, the attribute
/// noop_with_empty_axes determines the dims: with 1 the function returns no
/// dims, and with 0 it returns all dims.
static SmallVector<int64_t> reducedDims(NodeImport &n, int64_t rank) {
  SmallVector<int64_t> dims =
      n.integersOf("axes", 1).value_or(SmallVector<int64_t>());
  if (!dims.empty() || n.integer("noop_with_empty_axes", 0))
    return n.normalizeDims(dims, rank);
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

/// Reduces `input` with `kind` over the dims that the node lists. Returns
/// `input` unchanged if no dims are reduced. `input` is operand 0 or is
/// computed from operand 0, such as its square for ReduceSumSquare.
static Value reduceBy(NodeImport &n, ReduceKind kind, Value input) {
  if (n.failed())
    return {};
  SmallVector<int64_t> dims = reducedDims(n, shapeOf(input).size());
  if (dims.empty())
    return input;
  return n.reduce(kind, input, dims, n.integer("keepdims", 1));
}

/// Imports a node such as ReduceSum, which reduces operand 0 itself. `kind` is
/// the kind of the reduction, such as Sum. Nodes that change the elements
/// before the reduction have functions of their own. An example is ReduceL1,
/// which sums the absolute values of the elements.
template <ReduceKind kind> static Value reduce(NodeImport &n) {
  return reduceBy(n, kind, n.operand(0));
}

/// Imports ReduceMax or ReduceMin. Booleans are converted to i32 and back.
template <ReduceKind kind> static Value extreme(NodeImport &n) {
  if (!n.elementType(0).isInteger(1))
    return reduce<kind>(n);
  Type wide = n.getBuilder().getI32Type();
  return n.cast(reduceBy(n, kind, n.cast(n.operand(0), wide)),
                n.elementType(0));
}

static Value reduceL1(NodeImport &n) {
  return reduceBy(n, ReduceKind::Sum, n.make<AbsOp>(n.operand(0)));
}

static Value reduceSumSquare(NodeImport &n) {
  Value x = n.operand(0);
  return reduceBy(n, ReduceKind::Sum, n.mul(x, x));
}

/// Returns `x`, or a cast of `x` to f64 if its elements are integers.
static Value inReals(NodeImport &n, Value x) {
  if (n.failed() || isa<FloatType>(tensorType(x).getElementType()))
    return x;
  return n.cast(x, n.getBuilder().getF64Type());
}

/// Imports ReduceMean. Integers are added and divided in f64, and the fraction
/// of the mean is dropped. The f64 sum is exact if the absolute values add up
/// to at most 2^53. The number of processes then does not change the result.
static Value reduceMean(NodeImport &n) {
  Type type = n.elementType(0);
  if (n.failed() || isa<FloatType>(type))
    return reduce<ReduceKind::Mean>(n);
  Value x = inReals(n, n.operand(0));
  Value sum = reduceBy(n, ReduceKind::Sum, x);
  if (n.failed())
    return {};
  const int64_t size = tensorType(sum).getNumElements();
  const double parts =
      size == 0 ? 1 : double(tensorType(x).getNumElements()) / double(size);
  return n.cast(n.div(sum, n.scalarLike(sum, parts)), type);
}

/// Applies the float op `Op` to `x`. If the elements of `x` are integers, they
/// are converted to f64 and back.
template <typename Op> static Value makeInReals(NodeImport &n, Value x) {
  if (n.failed())
    return {};
  return n.cast(n.make<Op>(inReals(n, x)), tensorType(x).getElementType());
}

/// Returns √`sum`, where `sum` is Σ x². Where the sum is 0, the gradient of the
/// root is infinite, and that of x would be NaN. As in PyTorch, it is 0 there:
/// the root is computed of 1, and the result replaced by 0.
static Value lengthOf(NodeImport &n, Value sum) {
  Value zero = n.compare(Predicate::Equal, sum, n.scalarLike(sum, 0));
  Value root =
      makeInReals<SqrtOp>(n, n.select(zero, n.scalarLike(sum, 1), sum));
  return n.select(zero, n.scalarLike(root, 0), root);
}

static Value reduceL2(NodeImport &n) {
  Value sum = reduceSumSquare(n);
  return n.failed() ? Value() : lengthOf(n, sum);
}

static Value reduceLogSum(NodeImport &n) {
  return makeInReals<LogOp>(n, reduce<ReduceKind::Sum>(n));
}

/// Imports ReduceLogSumExp as log(Σ exp(x - m)) + m, where m is the maximum of
/// x over the reduced dims. The subtraction of m avoids an overflow in exp.
/// Integers are computed in f64 and converted back.
static Value reduceLogSumExp(NodeImport &n) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  const Type type = n.elementType(0);
  x = inReals(n, x);
  SmallVector<int64_t> dims = reducedDims(n, shapeOf(x).size());
  if (dims.empty() || n.failed())
    return n.operand(0);
  Value largest = n.reduce(ReduceKind::Max, x, dims, /*keep=*/true);
  // Replace an infinite maximum by 0, because infinity - infinity is NaN.
  Value infinite = n.make<IsInfOp>(largest, true, true);
  largest = n.select(infinite, n.scalarLike(x, 0), largest);
  Value sum = n.reduce(ReduceKind::Sum, n.make<ExpOp>(n.sub(x, largest)), dims,
                       /*keep=*/true);
  Value result = n.cast(n.add(n.make<LogOp>(sum), largest), type);
  if (n.integer("keepdims", 1) || n.failed())
    return result;
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(shapeOf(result)))
    if (!llvm::is_contained(dims, static_cast<int64_t>(i)))
      shape.push_back(size);
  return n.reshape(result, shape);
}

/// Imports ArgMax or ArgMin.
template <ReduceKind kind> static Value argReduce(NodeImport &n) {
  Value x = n.operand(0);
  int64_t dim = n.dim("axis", 0, shapeOf(x).size());
  return n.make<ArgReduceOp>(kind, x, static_cast<uint64_t>(dim),
                             n.integer("keepdims", 1) != 0,
                             n.integer("select_last_index", 0) != 0);
}

/// Imports CumSum. The summed dim is operand 1, which must be known during the
/// import.
static Value cumSum(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> axis = n.integers(1);
  if (n.failed())
    return {};
  if (axis.size() != 1)
    return n.invalid("names " + counted(axis.size(), "axis"));
  int64_t dim = n.normalizeDim(axis[0], shapeOf(x).size());
  return n.make<CumSumOp>(x, static_cast<uint64_t>(dim),
                          n.integer("exclusive", 0) != 0,
                          n.integer("reverse", 0) != 0);
}

/// Imports TopK. Before opset 10 the number `k` was an attribute instead of
/// operand 1.
static Value topK(NodeImport &n) {
  Value x = n.operand(0);
  int64_t dim = n.dim("axis", -1, shapeOf(x).size());
  SmallVector<int64_t> k =
      n.opset() < 10 ? SmallVector<int64_t>{n.integer("k", -1)} : n.integers(1);
  if (n.failed())
    return {};
  if (k.size() != 1 || k[0] < 0)
    return n.invalid("needs one count of elements that is not negative");
  auto [elements, places] = n.topK(x, k[0], dim, n.integer("largest", 1) != 0);
  n.set(0, elements);
  n.set(1, places);
  return {};
}

void addReductionOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"ReduceSum", 1, 1, 2, reduce<ReduceKind::Sum>},
      {"ReduceMean", 1, 1, 2, reduceMean},
      {"ReduceProd", 1, 1, 2, reduce<ReduceKind::Prod>},
      {"ReduceMax", 1, 1, 2, extreme<ReduceKind::Max>},
      {"ReduceMin", 1, 1, 2, extreme<ReduceKind::Min>},
      {"ReduceL1", 1, 1, 2, reduceL1},
      {"ReduceL2", 1, 1, 2, reduceL2},
      {"ReduceSumSquare", 1, 1, 2, reduceSumSquare},
      {"ReduceLogSum", 1, 1, 2, reduceLogSum},
      {"ReduceLogSumExp", 1, 1, 2, reduceLogSumExp},
      {"ArgMax", 1, 1, 1, argReduce<ReduceKind::Max>},
      {"ArgMin", 1, 1, 1, argReduce<ReduceKind::Min>},
      {"CumSum", 11, 2, 2, cumSum},
      {"TopK", 1, 1, 2, topK},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
