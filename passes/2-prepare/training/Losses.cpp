//===- Losses.cpp - loss functions of training ----------------------------===//

#include "passes/2-prepare/training/Losses.h"
#include "runtime/base/QuantityText.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

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
/// Builds one cross-entropy loss, a scalar. A label is the index of a class,
/// and the last dim of the scores counts the classes. mean() averages the terms
/// of perLabel() over all labels that differ from the setting `ignore_index`.
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

  /// Builds the loss: the mean of the terms of all labels that are not ignored.
  /// If all labels are ignored, the loss is NaN (0 / 0), as in PyTorch.
  Value mean() {
    Value one = b.scalar(b.getF32Type(), 1), zero = b.scalar(b.getF32Type(), 0);
    Value count = b.sum(b.select(ignored, zero, one));
    Value term = perLabel();
    Value masked = b.select(ignored, b.scalarLike(term, 0), term);
    return b.div(b.sum(masked),
                 b.cast(count, tensorType(term).getElementType()));
  }

private:
  /// Builds the loss of each label: -log(p[label]), where p is the softmax of
  /// the scores. If the setting `label_smoothing` (Szegedy et al. 2016) is s,
  /// the loss is (1 - s) · -log(p[label]), plus s times the mean of -log(p)
  /// over all classes. The setting `z_loss` (Chowdhery et al. 2022) is a
  /// factor: z_loss · (log of the sum of exp(score))² is added to the loss.
  Value perLabel() {
    const double smoothing = settingOr(expression, "label_smoothing", 0),
                 zLoss = settingOr(expression, "z_loss", 0);
    Value chosen = ofLabel(logProb);
    Value term = b.mul(chosen, smoothing - 1);
    if (smoothing != 0)
      term = b.sub(term, b.mul(b.reduce(ReduceKind::Mean, logProb,
                                        static_cast<int64_t>(lastDim)),
                               smoothing));
    // score[label] - log(p[label]) is the log of the sum of exp(score).
    if (zLoss != 0)
      term =
          b.add(term, b.mul(b.square(b.sub(ofLabel(scores), chosen)), zLoss));
    return term;
  }

  /// Returns the element of `values` at each label, a class index. For [[5, 6],
  /// [7, 8]] and the labels [1, 0], returns [6, 7]. An ignored label selects
  /// element 0.
  Value ofLabel(Value values) {
    return b.reshape(b.make<GatherElementsOp>(values, indices, lastDim),
                     tensorType(ignored).getShape());
  }

  ArithmeticBuilder &b;
  Value scores;
  uint64_t lastDim;
  const LossExpression &expression;
  /// `ignored`: Boolean mask of the labels that are ignored. `indices`: the
  /// labels, with 0 in place of ignored ones, and with an additional last dim
  /// of size 1. gather_elements needs this dim, because `indices` and `logProb`
  /// must have equal ranks. `logProb`: log-probabilities of all classes.
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
  static constexpr double mostReal = std::numeric_limits<float>::max();
  static constexpr LossSetting ofClasses[] = {
      {"ignore_index", -largestWhole, largestWhole, /*isWhole=*/true},
      {"label_smoothing", 0, 1},
      {"z_loss", 0, mostReal}};
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

//===----------------------------------------------------------------------===//
// Check of the text
//===----------------------------------------------------------------------===//

/// Returns an error with exit code 6 and the text `claim`.
static Status refused(const std::string &claim) {
  return Status::error(CannotMeet, claim);
}

/// Returns the names of `entries`, such as "mse".
template <typename Entry>
static std::vector<std::string> namesOf(ArrayRef<Entry> entries) {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name.str());
  return names;
}

/// Returns an error if the loss function `loss` has no setting `name`, or if
/// the setting cannot be `value`.
static Status checkSetting(const Loss &loss, const std::string &name,
                           double value) {
  const auto *setting = llvm::find_if(
      loss.settings, [&](const LossSetting &s) { return s.name == name; });
  if (setting == loss.settings.end())
    return refused("'" + loss.name.str() + "' has no setting '" + name + "'" +
                   nearestOf(name, namesOf(loss.settings)));
  if (value >= setting->least && value <= setting->most &&
      (!setting->isWhole || value == std::trunc(value)))
    return Status::success();
  std::string text;
  llvm::raw_string_ostream(text)
      << "'" << name << "' needs a " << (setting->isWhole ? "whole " : "")
      << "number from " << llvm::format("%g", setting->least) << " to "
      << llvm::format("%g", setting->most) << ", got "
      << llvm::format("%g", value);
  return refused(text);
}

StatusOr<LossExpression> pcc::prepare::parseLoss(StringRef text) {
  PCC_ASSIGN_OR_RETURN(LossExpression expression, parseLossExpression(text));
  const auto &[name, values, settings] = expression;
  if (values.empty() && settings.empty())
    return expression;
  const Loss *loss = findLoss(name);
  if (!loss)
    return refused("no loss is called '" + name + "'" +
                   nearestOf(name, namesOf(losses())));
  if (values.size() != 2)
    return refused("'" + name + "' takes an output and labels, got " +
                   runtime::countText(int64_t(values.size()), "value"));
  if (values[0] == values[1])
    return refused("it compares '" + values[0] +
                   "' with itself; labels need another name, which becomes an "
                   "input");
  for (auto &[setting, value] : settings)
    PCC_RETURN_IF_ERROR(checkSetting(*loss, setting, value));
  return expression;
}
