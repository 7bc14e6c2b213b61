//===- LearningRate.cpp - learning-rate schedules with warmup and decay ---===//

#include "passes/2-prepare/training/LearningRate.h"
#include "passes/2-prepare/training/LossExpression.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

using Schedule = LearningRateSchedule;

/// Returns the reason why `schedule` is invalid; an empty string if it is
/// valid.
static std::string check(const Schedule &schedule) {
  const bool falls = schedule.kind != Schedule::Constant;
  if (schedule.warmup < 0 || schedule.final < 0)
    return "warmup and final must not be negative";
  if (falls && schedule.steps <= schedule.warmup)
    return "it needs steps=N, the last step of the fall, with N above warmup";
  return {};
}

StatusOr<Schedule> pcc::prepare::parseLearningRateSchedule(StringRef text) {
  PCC_ASSIGN_OR_RETURN(LossExpression form, parseLossExpression(text));
  const int kind = llvm::StringSwitch<int>(form.name)
                       .Case("constant", Schedule::Constant)
                       .Case("linear", Schedule::Linear)
                       .Case("cosine", Schedule::Cosine)
                       .Default(-1);
  if (kind < 0)
    return Status::error(
        WrongUsage,
        "it is not constant, linear or cosine" +
            didYouMean(form.name, {"constant", "linear", "cosine"}));
  if (!form.values.empty())
    return Status::error(WrongUsage, "it takes settings such as steps=1000, "
                                     "got '" +
                                         form.values.front() + "'");
  Schedule schedule{static_cast<Schedule::Kind>(kind)};
  for (auto &[name, value] : form.settings) {
    double *field = llvm::StringSwitch<double *>(name)
                        .Case("warmup", &schedule.warmup)
                        .Case("steps", &schedule.steps)
                        .Case("final", &schedule.final)
                        .Default(nullptr);
    if (!field)
      return Status::error(WrongUsage,
                           "it has no setting '" + name + "'" +
                               nearestOf(name, {"warmup", "steps", "final"}));
    *field = value;
  }
  if (std::string error = check(schedule); !error.empty())
    return Status::error(WrongUsage, error);
  return schedule;
}

/// Builds the progress of the learning rate's decay in step `step`, a number
/// from 0 to 1. Steps are counted from 0. The decay begins in step
/// `schedule.warmup` and ends in step `schedule.steps`. The progress is 0
/// before the decay begins, grows linearly from 0 to 1 during the decay, and is
/// 1 after the decay ends. For example, with `warmup` = 10 and `steps` = 110,
/// the progress in step 60 is 0.5.
static Value fallen(ArithmeticBuilder &b, Value step,
                    const Schedule &schedule) {
  Value since = b.add(step, -schedule.warmup);
  Value share = b.mul(since, 1 / (schedule.steps - schedule.warmup));
  share = b.make<graph::MaxOp>(share, b.scalarLike(share, 0));
  return b.make<graph::MinOp>(share, b.scalarLike(share, 1));
}

// Builds the factor in step s, counted from 0: min((s + 1) / warmup, 1) times
// (final + (1 - final) · h). h falls from 1 in step `warmup` to 0 in step
// `steps`, along a line or half a cosine wave. For a constant schedule, h is 1.
Value pcc::prepare::buildLearningRateFactor(ArithmeticBuilder &b, Value step,
                                            const Schedule &schedule) {
  Value share;
  if (schedule.kind != Schedule::Constant) {
    Value height = b.subFrom(1, fallen(b, step, schedule));
    if (schedule.kind == Schedule::Cosine)
      height =
          b.mul(b.subFrom(1, b.make<graph::CosOp>(b.mul(height, M_PI))), 0.5);
    share = b.add(b.mul(height, 1 - schedule.final), schedule.final);
  }
  if (schedule.warmup > 0) {
    Value grown = b.mul(b.add(step, 1), 1 / schedule.warmup);
    grown = b.make<graph::MinOp>(grown, b.scalarLike(grown, 1));
    share = share ? b.mul(share, grown) : grown;
  }
  return share;
}
