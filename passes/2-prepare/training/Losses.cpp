//===- Losses.cpp - loss functions of training ----------------------------===//

#include "passes/2-prepare/training/Losses.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns the value of the setting `name` of a loss function. `expression` is
/// the parsed text of the option `--loss`. For example, the text
/// cross_entropy(logits, labels, ignore_index=-1) gives the setting
/// `ignore_index` the value -1. If the text does not contain the setting, the
/// function returns the default value `otherwise`.
static double settingOr(const LossExpression &expression,
                        const std::string &name, double otherwise) {
  auto it = expression.settings.find(name);
  return it == expression.settings.end() ? otherwise : it->second;
}

/// Casts `value` to f32 if its type has less than 32 bits, so that sums of many
/// terms stay precise.
static Value widened(ArithmeticBuilder &b, Value value) {
  Type type = tensorType(value).getElementType();
  return type.getIntOrFloatBitWidth() < 32 ? b.cast(value, b.getF32Type())
                                           : value;
}

//===----------------------------------------------------------------------===//
// Mean squared error
//===----------------------------------------------------------------------===//

/// Returns the type that the labels must have for the mean squared error of a
/// model output of type `output`. The result is `output`, because the loss
/// subtracts the labels from the model output element by element. Returns null
/// if the elements of the model output are not floats.
static RankedTensorType sameAsOutput(RankedTensorType output) {
  return isa<FloatType>(output.getElementType()) ? output : RankedTensorType();
}

/// Builds the mean squared error: the mean of (output - labels)² over all
/// elements.
static Value meanSquaredError(ArithmeticBuilder &b, Value output, Value labels,
                              const LossExpression &) {
  Value difference = b.sub(widened(b, output), widened(b, labels));
  auto count = static_cast<double>(tensorType(output).getNumElements());
  return b.mul(b.sum(b.square(difference)), 1 / count);
}

//===----------------------------------------------------------------------===//
// Cross entropy
//===----------------------------------------------------------------------===//

/// Returns the type of the labels of cross_entropy for a model output of type
/// `output`. A label is the index of a class. The last dim of the output has
/// one element per class, and the labels do not have this dim. For example, an
/// output of type tensor<2x3x10xf32> needs labels of type tensor<2x3xi64>.
/// Returns null if the output is a scalar or its elements are not floats.
static RankedTensorType classIndices(RankedTensorType output) {
  if (output.getRank() == 0 || !isa<FloatType>(output.getElementType()))
    return {};
  return RankedTensorType::get(output.getShape().drop_back(),
                               IntegerType::get(output.getContext(), 64));
}

namespace {
/// Builds one cross-entropy loss, a scalar. A label is the index of a class.
/// The model's output has one score per class for each label. For example,
/// scores of shape [2, 3, 10] belong to labels of shape [2, 3] and 10 classes.
/// The softmax of the scores gives a probability p[c] for each class c.
///
/// The function perLabel() builds one term for each label. With the default
/// settings, the term is -log(p[label]). The function mean() builds the loss.
/// The loss is the mean of the terms of all labels that are not ignored. A
/// label is ignored if it equals the setting `ignore_index`, such as -100.
class CrossEntropy {
public:
  CrossEntropy(ArithmeticBuilder &builder, Value scores, Value labels,
               const LossExpression &expression)
      : b(builder), scores(widened(builder, scores)),
        lastDim(tensorType(scores).getRank() - 1), expression(expression) {
    Value ignore =
        b.scalar(b.getI64Type(), settingOr(expression, "ignore_index", -100));
    ignored = b.compare(Predicate::Equal, labels, ignore);
    // An ignored label, such as -100, is no class index. Replace it by class 0,
    // so that the gather stays within bounds.
    Value index = b.select(ignored, b.scalar(b.getI64Type(), 0), labels);
    SmallVector<int64_t> shape(tensorType(labels).getShape());
    shape.push_back(1);
    indices = b.reshape(index, shape);
    logProb = b.make<LogSoftmaxOp>(this->scores, lastDim);
  }

  /// Builds the cross-entropy loss, a scalar. The function perLabel() builds
  /// one term for each label. With the default settings, the term is -log(p).
  /// Here, p is the probability that the model computes for the label. The loss
  /// is the mean of the terms of all labels that are not ignored. A label is
  /// ignored if it equals the setting `ignore_index`. For example, three labels
  /// have the terms 3, 5 and 7, and the third label is ignored. The loss is
  /// then (3 + 5) / 2 = 4. If all labels are ignored, the loss is NaN (0 / 0),
  /// as in PyTorch.
  Value mean() {
    Value one = b.scalar(b.getF32Type(), 1), zero = b.scalar(b.getF32Type(), 0);
    Value count = b.sum(b.select(ignored, zero, one));
    Value term = perLabel();
    Value masked = b.select(ignored, b.scalarLike(term, 0), term);
    return b.div(b.sum(masked),
                 b.cast(count, tensorType(term).getElementType()));
  }

private:
  /// Builds one term of the loss for each label. A term is the sum of three
  /// parts:
  ///
  ///   (1 - e) · (-log p[label])
  ///   e · (mean of -log p[c] over all classes c)
  ///   z · (log of the sum of exp(score[c]) over all classes c)²
  ///
  /// Here, score[c] is the model's output for class c, and p is the softmax of
  /// the scores. The number e is the setting `label_smoothing` (Szegedy et al.
  /// 2016). The number z is the setting `z_loss` (Chowdhery et al. 2022). Both
  /// settings are 0 by default.
  Value perLabel() {
    const double smoothing = settingOr(expression, "label_smoothing", 0),
                 zLoss = settingOr(expression, "z_loss", 0);
    Value chosen = ofLabel(logProb);
    Value term = b.mul(chosen, smoothing - 1);
    if (smoothing != 0)
      term = b.sub(term, b.mul(b.reduce(ReduceKind::Mean, logProb,
                                        static_cast<int64_t>(lastDim)),
                               smoothing));
    if (zLoss != 0)
      term =
          b.add(term, b.mul(b.square(b.sub(ofLabel(scores), chosen)), zLoss));
    return term;
  }

  /// Returns one element of `values` for each label. A label is the index of a
  /// class. The last dim of `values` has one element per class. For example,
  /// `values` is [[5, 6], [7, 8]] and the labels are [1, 0]. Label 1 selects 6
  /// from [5, 6], and label 0 selects 7 from [7, 8]. The result is [6, 7].
  ///
  /// A label is ignored if it equals the setting `ignore_index`, such as -100.
  /// An ignored label selects element 0, because -100 is not a valid index.
  Value ofLabel(Value values) {
    return b.reshape(b.make<GatherElementsOp>(values, indices, lastDim),
                     tensorType(ignored).getShape());
  }

  ArithmeticBuilder &b;
  Value scores;
  uint64_t lastDim;
  const LossExpression &expression;
  /// Tensors from which the loss is computed. The table shows their shapes for
  /// labels of shape [2, 3] and 10 classes:
  ///
  ///   ignored   [2, 3]       true if the label equals setting `ignore_index`
  ///   indices   [2, 3, 1]    label (index of a class), or 0 if it is ignored
  ///   logProb   [2, 3, 10]   log-probabilities of all classes
  ///
  /// The last dim of `indices` must stay, because gather_elements requires that
  /// `indices` and `logProb` have equal ranks.
  Value ignored, indices, logProb;
};
} // namespace

static Value crossEntropy(ArithmeticBuilder &b, Value output, Value labels,
                          const LossExpression &expression) {
  return CrossEntropy(b, output, labels, expression).mean();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Returns the table of all loss functions.
static ArrayRef<Loss> losses() {
  static constexpr StringRef ofClasses[] = {"ignore_index", "label_smoothing",
                                            "z_loss"};
  static const Loss table[] = {
      {"cross_entropy", ofClasses, classIndices, crossEntropy},
      {"mse", {}, sameAsOutput, meanSquaredError},
  };
  return table;
}

const Loss *pcc::prepare::findLoss(StringRef name) {
  const auto *found = llvm::find_if(
      losses(), [&](const Loss &loss) { return loss.name == name; });
  return found == losses().end() ? nullptr : found;
}

std::string pcc::prepare::lossNames() {
  return llvm::join(
      llvm::map_range(losses(), [](const Loss &l) { return l.name.str(); }),
      ", ");
}
