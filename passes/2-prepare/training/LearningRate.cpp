//===- LearningRate.cpp - learning-rate schedules with warmup and decay ---===//

#include "passes/2-prepare/training/LearningRate.h"
#include "passes/2-prepare/training/LossExpression.h"
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
  if (kind < 0 || !form.values.empty())
    return Status::error(CannotMeet, "it is not constant, linear or cosine");
  Schedule schedule{static_cast<Schedule::Kind>(kind)};
  for (auto &[name, value] : form.settings) {
    double *field = llvm::StringSwitch<double *>(name)
                        .Case("warmup", &schedule.warmup)
                        .Case("steps", &schedule.steps)
                        .Case("final", &schedule.final)
                        .Default(nullptr);
    if (!field)
      return Status::error(CannotMeet, "it has no setting '" + name + "'");
    *field = value;
  }
  if (std::string error = check(schedule); !error.empty())
    return Status::error(CannotMeet, error);
  return schedule;
}

/// Builds the progress of the learning rate's decay. The progress is 0 during
/// the warmup. It grows linearly from there to 1 at step `schedule.steps`, and
/// stays 1.
static Value fallen(ArithmeticBuilder &b, Value step,
                    const Schedule &schedule) {
  Value since = b.add(step, -schedule.warmup);
  Value share = b.mul(since, 1 / (schedule.steps - schedule.warmup));
  share = b.make<graph::MaxOp>(share, b.scalarLike(share, 0));
  return b.make<graph::MinOp>(share, b.scalarLike(share, 1));
}

// The factor is the product of a warmup and a decay. The warmup is (step + 1) /
// `warmup`, but at most 1. The decay is F + (1 - F) · h, where F is the setting
// `final`. The number h falls from 1 to 0, so the decay goes from 1 to F. Let p
// be the progress of the decay: p is 0 at the end of the warmup and 1 at step
// `steps`. The kind of the schedule determines h:
//
//   linear   h = 1 - p
//   cosine   h = (1 + cos(π p)) / 2
//
// The code computes the cosine from 1 - p, as (1 - cos(π (1 - p))) / 2. Both
// formulas have equal results.
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
