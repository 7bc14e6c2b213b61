//===- Losses.cpp - import of classification losses -----------------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

namespace {
/// Labels of a loss node. A label is the index of the correct class. The
/// scores, which are operand 0 of the node, contain a score for each class. Dim
/// 1 of the scores numbers the classes. The labels have the shape of the scores
/// without dim 1. Example: 10 classes, scores of the shape [8, 10, 32, 32], and
/// labels of the shape [8, 32, 32].
struct Labels {
  /// Reads the labels (operand 1), which must have the shape of `scores`
  /// without dim 1. Replaces labels that equal ignore_index by 0, and marks
  /// them in `ignored`. Other negative labels cause an error when the model
  /// runs.
  Labels(NodeImport &n, Value scores) : index(n.operand(1)) {
    check(n, shapeOf(scores), shapeOf(index));
    if (!n.failed() && n.hasAttribute("ignore_index")) {
      double ignore = static_cast<double>(n.integer("ignore_index", 0));
      ignored = n.compare(Predicate::Equal, index, n.scalarLike(index, ignore));
      index = n.select(ignored, n.scalarLike(index, 0), index);
    }
    if (!n.failed())
      refuseNegative(n, static_cast<double>(shapeOf(scores)[1]));
  }

  /// Subtracts `numClasses` from each negative label, so that the label causes
  /// an error when the model runs. Otherwise the label -1 would select the last
  /// class.
  void refuseNegative(NodeImport &n, double numClasses) {
    Value isNegative =
        n.compare(Predicate::Less, index, n.scalarLike(index, 0));
    index = n.select(isNegative, n.sub(index, n.scalarLike(index, numClasses)),
                     index);
  }

  /// Checks that two shapes fit together. `scores` is the shape of the tensor
  /// with a score for each class. Dim 1 of this shape is the number of classes.
  /// `labels` is the shape of the tensor with the labels. The shape `labels`
  /// must equal `scores` without dim 1. Example: if `scores` is [8, 10, 32,
  /// 32], `labels` must be [8, 32, 32]. If the shapes do not fit, the function
  /// records an error.
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

  /// Returns a copy of the tensor `value` in which some elements are 0. `value`
  /// has one element for each label. The elements for ignored labels become 0.
  /// An ignored label is a label that equals the attribute ignore_index of the
  /// node. If the node does not have the attribute, no label is ignored.
  Value masked(NodeImport &n, Value value) const {
    return ignored ? n.select(ignored, n.scalarLike(value, 0), value) : value;
  }

  Value index;   ///< classes; 0, a valid index, for ignored labels
  Value ignored; ///< booleans; null without ignore_index
};
} // namespace

/// Returns a tensor with the loss of each label. A label is the index of a
/// class, and `logProb` contains the log-probability of each class. The loss of
/// a label is minus the log-probability of the label's class. Example: if the
/// label is 2 and the log-probabilities are [-3, -1, -0.5], the loss is 0.5. If
/// a label equals the attribute ignore_index of the node, its loss is 0.
static Value lossPerLabel(NodeImport &n, Value logProb, const Labels &labels) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(shapeOf(labels.index)), withClass(shape);
  withClass.insert(withClass.begin() + 1, 1);
  Value chosen = n.make<GatherElementsOp>(
      logProb, n.reshape(labels.index, withClass), static_cast<uint64_t>(1));
  return labels.masked(n, n.make<NegOp>(n.reshape(chosen, shape)));
}

/// Returns the weight of each label: 0 for an ignored label, otherwise the
/// weight of the label's class in operand 2, by default 1. Returns null if the
/// node has neither operand 2 nor ignore_index. `type` is the element type if
/// operand 2 is absent.
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

/// Multiplies `loss`, one loss for each label, by `weight` (null for 1).
/// Reduces the products as the attribute `reduction` says: not at all, to their
/// sum, or to the weighted mean of the losses.
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

/// Returns operand 0 of the loss node, which contains a score for each class.
/// Dim 0 is the batch, and dim 1 numbers the classes. More dims may follow,
/// such as the height and width of an image. If the operand has fewer than 2
/// dims, the function records an error and returns null.
static Value scoresOf(NodeImport &n) {
  Value scores = n.operand(0);
  size_t rank = shapeOf(scores).size();
  return n.failed() || rank >= 2
             ? scores
             : n.invalid("has scores of " + counted(rank, "dim") +
                         ", not 2 or more");
}

/// Returns output 0 of the loss node: minus the log-probability of each label's
/// class, times the weight of the class, reduced as the attribute `reduction`
/// says. Dim 1 of `logProb` numbers the classes.
static Value lossOf(NodeImport &n, Value logProb) {
  if (n.failed())
    return {};
  Labels labels(n, logProb);
  Value loss = lossPerLabel(n, logProb, labels);
  return reduced(n, loss, weightPerLabel(n, labels, n.elementType(0)));
}

/// Imports NegativeLogLikelihoodLoss. Its operand 0 holds log-probabilities.
static Value negativeLogLikelihoodLoss(NodeImport &n) {
  return lossOf(n, scoresOf(n));
}

/// Imports SoftmaxCrossEntropyLoss. The node's output 1 holds the
/// log-probabilities.
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
