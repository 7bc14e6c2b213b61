//===- Losses.cpp - classification losses ---------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

namespace {
/// The labels of a loss, [N, …] for scores [N, C, …].
struct Labels {
  Labels(NodeImport &n, Value scores) : index(n.operand(1)) {
    check(n, shapeOf(scores), shapeOf(index));
    if (n.failed() || !n.hasAttribute("ignore_index"))
      return;
    double ignore = static_cast<double>(n.integer("ignore_index", 0));
    ignored = n.compare(Predicate::Equal, index, n.scalarLike(index, ignore));
    index = n.select(ignored, n.scalarLike(index, 0), index);
  }

  static void check(NodeImport &n, ArrayRef<int64_t> scores,
                    ArrayRef<int64_t> labels) {
    if (n.failed())
      return;
    SmallVector<int64_t> wanted(scores);
    wanted.erase(wanted.begin() + 1);
    if (!labels.equals(wanted))
      n.fail(n.mismatchExitCode, "has labels " + sizesText(labels) +
                                     " for scores " + sizesText(scores));
  }

  /// 0 where the label is ignored, `value` elsewhere.
  Value masked(NodeImport &n, Value value) const {
    return ignored ? n.select(ignored, n.scalarLike(value, 0), value) : value;
  }

  Value index;   ///< with class 0 where ignored, so that it can be read
  Value ignored; ///< booleans; null if none may be
};
} // namespace

/// -logProb[label] of every label; 0 where it is ignored.
static Value lossPerLabel(NodeImport &n, Value logProb, const Labels &labels) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(shapeOf(labels.index)), withClass(shape);
  withClass.insert(withClass.begin() + 1, 1);
  Value chosen = n.make<GatherElementsOp>(
      logProb, n.reshape(labels.index, withClass), static_cast<uint64_t>(1));
  return labels.masked(n, n.make<NegOp>(n.reshape(chosen, shape)));
}

/// How much each label counts: the weight of its class, 0 where it is ignored;
/// null if all count alike.
static Value weightPerLabel(NodeImport &n, const Labels &labels, Type type) {
  if (n.failed())
    return {};
  if (n.has(2))
    return labels.masked(n, n.make<GatherOp>(n.operand(2), labels.index,
                                             static_cast<uint64_t>(0)));
  return labels.ignored
             ? n.select(labels.ignored, n.scalar(0, type), n.scalar(1, type))
             : Value();
}

/// Reduces as the node asks for, over numbers wide enough for long sums.
static Value reduced(NodeImport &n, Value loss, Value weight) {
  std::string reduction = n.text("reduction", "mean");
  if (weight)
    loss = n.mul(loss, weight);
  if (reduction == "none" || n.failed())
    return loss;
  if (reduction != "mean" && reduction != "sum")
    return n.invalid("reduces by '" + Twine(reduction) +
                     "', not by none, sum or mean");
  Type type = tensorType(loss).getElementType();
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(loss).size()));
  auto total = [&](ReduceKind kind, Value value) {
    if (type.getIntOrFloatBitWidth() < 32 && !n.failed())
      value = n.cast(value, n.getBuilder().getF32Type());
    return n.reduce(kind, value, all, /*keep=*/false);
  };
  bool mean = reduction == "mean";
  Value result = mean && !weight ? total(ReduceKind::Mean, loss)
                                 : total(ReduceKind::Sum, loss);
  if (mean && weight)
    result = n.div(result, total(ReduceKind::Sum, weight));
  return n.failed() ? Value() : n.cast(result, type);
}

/// The scores, [N, C, …]; null after a mistake.
static Value scoresOf(NodeImport &n) {
  Value scores = n.operand(0);
  size_t rank = shapeOf(scores).size();
  return n.failed() || rank >= 2 ? scores
                                 : n.invalid("has scores of " + Twine(rank) +
                                             " dims, not 2 or more");
}

static Value lossOf(NodeImport &n, Value logProb) {
  if (n.failed())
    return {};
  Labels labels(n, logProb);
  Value loss = lossPerLabel(n, logProb, labels);
  return reduced(n, loss, weightPerLabel(n, labels, n.elementType(0)));
}

static Value negativeLogLikelihoodLoss(NodeImport &n) {
  return lossOf(n, scoresOf(n));
}

static Value softmaxCrossEntropyLoss(NodeImport &n) {
  Value scores = scoresOf(n);
  Value logProb = n.make<LogSoftmaxOp>(scores, static_cast<uint64_t>(1));
  n.set(0, lossOf(n, logProb));
  if (n.isOutputUsed(1))
    n.set(1, logProb);
  return {};
}

void addLossOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"NegativeLogLikelihoodLoss", 12, 2, 3, negativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, 2, 3, softmaxCrossEntropyLoss},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
