//===- LearningRate.h - learning-rate schedules with warmup and decay -----===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// The schedule of `--lr-schedule NAME(steps=N, warmup=K, final=F)`. The
/// learning rate of a step is --lr times a factor:
///
///   factor       warmup       decay (linear or cosine)
///      1 |         /----------.___
///        |       /                `---.___
///      F |     /                          `----------------
///      0 +---/--------------------------------------------- step
///            0     K                       N
///
/// In step s < K, counted from 0, the factor is (s + 1) / K. After the warmup
/// the factor is constant, or it decays until step N to F and stays at F. The
/// decay is linear or half a cosine (SGDR without restarts, Loshchilov and
/// Hutter 2017).
struct LearningRateSchedule {
  /// Shape of the decay after the warmup. Constant means that the factor stays
  /// 1.
  enum Kind { Constant, Linear, Cosine } kind = Constant;
  /// Length K of the warmup in steps, step N at which the decay ends, and final
  /// factor F. K and F are not negative. N is greater than K; only for the kind
  /// Constant may N have any value.
  double warmup = 0, steps = 0, final = 0;
};

/// Parses the value of `--lr-schedule`, such as `cosine(steps=1000,
/// warmup=10)`. Returns an error if the syntax, the name of a setting or a
/// number is wrong.
StatusOr<LearningRateSchedule> parseLearningRateSchedule(llvm::StringRef text);

/// Builds the factor of the learning rate for the step with number `step`, an
/// f64 scalar that counts from 0. Returns null if the factor is 1 in every
/// step: for a constant schedule without warmup.
mlir::Value buildLearningRateFactor(ArithmeticBuilder &builder,
                                    mlir::Value step,
                                    const LearningRateSchedule &schedule);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
