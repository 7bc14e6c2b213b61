//===- Dropout.cpp - import of Dropout with counter-based random numbers --===//
//
// The decision to drop an element depends only on the element's index in the
// whole batch, the training step, the node and the seed. No sharding, stage,
// microbatch or order of nodes changes the result. The random numbers are those
// of Philox (Salmon et al. 2011); see `graph.random`.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/OpTable.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Returns whether the Dropout node is in training mode: its operand 2
/// (training_mode) is present and true.
static bool saysDropout(NodeImport &n) {
  if (!n.has(2))
    return false;
  auto training = n.integers(2);
  return !training.empty() && training.front();
}

/// Returns an i64 tensor that numbers the elements of `shape` in row-major
/// order. The tensor is a sum with one term per dim: the index along the dim,
/// times the dim's stride. Each term varies along one dim only, so that the
/// compiler can shard any dim. For shape [2, 3]:
///
///   [[0], [1]] · 3 + [[0, 1, 2]] = [[0, 1, 2], [3, 4, 5]]
static Value elementNumbers(NodeImport &n, ArrayRef<int64_t> shape) {
  Type i64 = n.getBuilder().getI64Type();
  Value sum;
  int64_t stride = 1;
  for (auto dim = static_cast<int64_t>(shape.size()); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    SmallVector<int64_t> along(shape.size(), 1);
    along[dim] = shape[dim];
    Value index = n.iota(along, dim);
    if (stride > 1)
      index = n.mul(index, n.scalar(static_cast<double>(stride), i64));
    sum = sum ? n.add(index, sum) : index;
    stride *= shape[dim];
  }
  return sum ? sum : n.scalar(0, i64);
}

/// Returns the number of the current training step, an i64 scalar. The number
/// is stored in a parameter named `pcc.step`, whose initial value is 0. The
/// parameter is created if the module does not have it yet.
static Value step(NodeImport &n) {
  auto function =
      cast<func::FuncOp>(n.getBuilder().getInsertionBlock()->getParentOp());
  auto type = RankedTensorType::get({}, n.getBuilder().getI64Type());
  if (!SymbolTable::lookupNearestSymbolFrom(
          function, n.getBuilder().getStringAttr(stepName))) {
    OpBuilder builder(function);
    auto parameter = ParameterOp::create(builder, builder.getUnknownLoc(),
                                         builder.getStringAttr(stepName), type);
    parameter.setFillAttr(builder.getF64FloatAttr(0));
  }
  return n.makeTyped<GetParameterOp>(type, stepName);
}

/// Returns the key for the random numbers of a Dropout node. The random number
/// of an element depends on this key, the number of the element and the
/// training step. The key combines the user's seed with a hash of the name of
/// the node's output 0, so that two Dropout nodes drop different elements.
static int64_t keyOf(const NodeImport &n) {
  constexpr uint64_t golden = 0x9E3779B97F4A7C15; // odd: no two seeds agree
  return static_cast<int64_t>(llvm::xxh3_64bits(n.node.outputs.front()) ^
                              (n.options.seed * golden));
}

/// Creates ops that set random elements of `input` to 0, and returns the
/// result. The probability that an element becomes 0 is `ratio`. All other
/// elements are divided by 1 - `ratio`. If the element type has less than 32
/// bits, such as f16, the ops divide in f32, and then convert the quotients
/// back to the element type.
static Value drop(NodeImport &n, Value input, double ratio) {
  Value random =
      n.make<RandomOp>(elementNumbers(n, shapeOf(input)), step(n), keyOf(n));
  Value isKept =
      n.compare(Predicate::GreaterOrEqual, random, n.scalarLike(random, ratio));
  Type type = n.elementType(0);
  Value x = type.getIntOrFloatBitWidth() < 32
                ? n.cast(input, n.getBuilder().getF32Type())
                : input;
  Value scaled = n.mul(x, n.scalarLike(x, 1 / (1 - ratio)));
  return n.cast(n.select(isKept, scaled, n.scalarLike(scaled, 0)), type);
}

/// Returns the fraction of elements to drop: operand 1 if present, else the
/// attribute `ratio`, which is 0.5 by default.
static double ratioOf(NodeImport &n) {
  if (n.has(1))
    if (auto given = n.doubles(1); !given.empty())
      return given.front();
  return n.real("ratio", 0.5);
}

/// Returns `input` with random elements set to 0 and the remaining elements
/// scaled. Returns `input` itself if the ratio of dropped elements is 0.
/// Returns null, with an error, if the ratio is not in [0, 1) or if the model
/// uses output 1 (the mask of kept elements).
static Value dropSome(NodeImport &n, Value input) {
  const double ratio = ratioOf(n);
  if (!input)
    return input;
  if (!(ratio > 0 && ratio < 1))
    return n.invalid("drops a share of " + std::to_string(ratio) +
                     ", which is not in [0, 1)");
  if (n.isOutputUsed(1))
    return n.unsupported("drops elements, and its mask is used");
  return drop(n, input, ratio);
}

/// Imports a Dropout node. ImportOptions::dropout and operand 2 (training_mode)
/// decide whether the node drops elements. If it keeps all elements, output 1
/// (the mask) is all ones.
static Value dropout(NodeImport &n) {
  using Dropout = ImportOptions::Dropout;
  const bool says = saysDropout(n);
  const Dropout wanted = n.options.dropout;
  const bool drops = ratioOf(n) != 0;
  if (drops && says && wanted == Dropout::Inference)
    return n.unsupported("drops elements (training_mode is true)");
  Value input = n.operand(0);
  if (drops &&
      (wanted == Dropout::Always || (says && wanted == Dropout::AsSaid)))
    return dropSome(n, input);
  if (n.isOutputUsed(1) && input) {
    Type type = n.opset() < 10 ? n.elementType(0) : n.getBuilder().getI1Type();
    n.set(1, n.full(RankedTensorType::get(shapeOf(input), type), 1));
  }
  return input;
}

void addDropoutOps(OpTable &table) {
  static constexpr OpForm forms[] = {{"Dropout", 1, 1, 3, dropout}};
  table.add("", forms);
}

} // namespace pcc::onnx_import
