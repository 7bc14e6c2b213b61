//===- LossScale.cpp - loss scaling for gradients in f16 ------------------===//

#include "passes/2-prepare/training/LossScale.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/2-prepare/training/LossExpression.h"
#include "passes/2-prepare/training/StateParameters.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

static bool isPositive(double number) {
  return std::isfinite(number) && number > 0;
}

/// Parses "dynamic" or "dynamic(SETTING=NUMBER, ...)". Returns an error if
/// `text` has another form or a number is not positive.
static StatusOr<LossScale> parseDynamic(StringRef text) {
  PCC_ASSIGN_OR_RETURN(LossExpression form, parseLossExpression(text));
  if (form.name != "dynamic")
    return Status::error(
        WrongUsage,
        "it is neither a number nor dynamic(initial=X, interval=N)" +
            didYouMean(form.name, {"dynamic"}));
  if (!form.values.empty())
    return Status::error(WrongUsage, "dynamic takes settings such as "
                                     "interval=2000, got '" +
                                         form.values.front() + "'");
  LossScale scale;
  for (auto &[name, value] : form.settings) {
    double *field = llvm::StringSwitch<double *>(name)
                        .Case("initial", &scale.initial)
                        .Case("interval", &scale.interval)
                        .Default(nullptr);
    if (!field)
      return Status::error(WrongUsage,
                           "it has no setting '" + name + "'" +
                               nearestOf(name, {"initial", "interval"}));
    *field = value;
  }
  if (isPositive(scale.initial) && isPositive(scale.interval) &&
      scale.interval <= largestWhole &&
      scale.interval == std::trunc(scale.interval))
    return scale;
  return Status::error(WrongUsage, "initial must be positive, and interval a "
                                   "positive whole number");
}

StatusOr<LossScale> LossScale::parse(StringRef text) {
  LossScale scale;
  if (text.getAsDouble(scale.initial))
    return parseDynamic(text);
  scale.isDynamic = false;
  if (!isPositive(scale.initial))
    return Status::error(WrongUsage, "it must be positive");
  return scale;
}

StatusOr<std::optional<LossScale>> LossScale::of(ModuleOp module) {
  auto request = TrainingRequest::of(module);
  auto precision = module->getAttrOfType<TypeAttr>(graph::precisionName);
  StringRef text = request ? request->text("loss_scale") : "";
  if (text.empty())
    return precision && precision.getValue().isF16()
               ? std::optional(LossScale())
               : std::nullopt;
  PCC_ASSIGN_OR_RETURN(LossScale scale, parse(text));
  return std::optional(scale);
}

/// Returns the parameter `pcc.loss_scale` of `module`, an f32 scalar. A
/// parameter is a tensor that keeps its value from one training step to the
/// next. The parameter `pcc.loss_scale` holds the dynamic loss scale. If
/// `module` has no such parameter, the function creates it. The new parameter
/// has the value of the argument `initial` in the first training step.
static graph::ParameterOp scaleState(ArithmeticBuilder &b, ModuleOp module,
                                     double initial) {
  return getOrCreateState(module, lossScaleName,
                          RankedTensorType::get({}, b.getF32Type()), initial);
}

Value LossScale::build(ArithmeticBuilder &b, ModuleOp module) const {
  return isDynamic ? read(b, scaleState(b, module, initial))
                   : b.scalar(b.getF32Type(), initial);
}

// Builds ops that double a dynamic loss scale after `interval` successive steps
// with finite gradients. The ops halve it after a step with an infinite or NaN
// gradient. The counter of finite steps then restarts at 0 in both cases.
void LossScale::update(ArithmeticBuilder &b, ModuleOp module,
                       Value isFinite) const {
  if (!isDynamic)
    return;
  auto state = scaleState(b, module, initial);
  auto counter = getOrCreateState(module, finiteStepsName,
                                  RankedTensorType::get({}, b.getI64Type()));
  Value scale = read(b, state), count = b.add(read(b, counter), 1);
  Value isDue = b.compare(graph::Predicate::GreaterOrEqual, count,
                          b.scalarLike(count, interval));
  Value grown = b.select(isDue, b.mul(scale, 2), scale);
  Value none = b.scalarLike(count, 0);
  b.makeOp<graph::SetParameterOp>(state.getSymName(),
                                  b.select(isFinite, grown, b.mul(scale, 0.5)));
  b.makeOp<graph::SetParameterOp>(
      counter.getSymName(),
      b.select(isFinite, b.select(isDue, none, count), none));
}
