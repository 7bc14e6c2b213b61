//===- Dropout.cpp - elements that are dropped while a model is trained ---===//

#include "dialects/graph/StepCounter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/OpTable.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Whether a node says that it drops elements.
static bool saysDropout(NodeImport &n) {
  if (!n.has(2))
    return false;
  auto training = n.integers(2);
  return !training.empty() && training.front();
}

/// The number of each element of a tensor, in row-major order: a sum of one
/// index per dim, so that the tensor can be split along any.
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

/// The number of the step, which training counts.
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

/// Different numbers for every node and every seed. The name of its output is a
/// node's alone.
static int64_t keyOf(const NodeImport &n) {
  constexpr uint64_t golden = 0x9E3779B97F4A7C15; // odd: no two seeds agree
  return static_cast<int64_t>(llvm::xxh3_64bits(n.node.outputs.front()) ^
                              (n.options.seed * golden));
}

/// x / (1 - ratio) where the random number of an element is not below the
/// ratio, else 0. It is that of the element of the whole batch, in this step,
/// at this node: neither shards, stages and microbatches nor the order of nodes
/// change it. In f32 for narrower types, which do not have the factor.
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

static double ratioOf(NodeImport &n) {
  if (n.has(1))
    if (auto given = n.doubles(1); !given.empty())
      return given.front();
  return n.real("ratio", 0.5);
}

/// `input` with a share of zeros.
static Value dropSome(NodeImport &n, Value input) {
  const double ratio = ratioOf(n);
  if (!input || ratio == 0)
    return input;
  if (!(ratio > 0 && ratio < 1))
    return n.invalid("drops a share of " + std::to_string(ratio) +
                     ", which is not in [0, 1)");
  if (n.isOutputUsed(1))
    return n.unsupported("drops elements and says which (its mask is used)");
  return drop(n, input, ratio);
}

/// In inference everything is kept.
static Value dropout(NodeImport &n) {
  using Dropout = ImportOptions::Dropout;
  const bool says = saysDropout(n);
  const Dropout wanted = n.options.dropout;
  if (says && wanted == Dropout::Inference)
    return n.unsupported("drops elements (training_mode is true)");
  Value input = n.operand(0);
  if (wanted == Dropout::Always || (says && wanted == Dropout::AsSaid))
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
