//===- LearningRate.h - learning-rate schedules with warmup and decay -----===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// A learning-rate schedule: `--lr-schedule NAME(steps=N, warmup=K, final=F)`.
/// In each step, the learning rate is --lr times this factor:
///
///   factor       warmup       decay (linear or cosine)
///      1 |         /----------.___
///        |       /                `---.___
///      F |     /                          `----------------
///      0 +---/--------------------------------------------- step
///            0     K                       N
///
/// The cosine decay is SGDR without restarts (Loshchilov and Hutter 2017).
struct LearningRateSchedule {
  /// Curve of the factor after the warmup. The factor stays 1 (Constant), or it
  /// goes from 1 to `final` along a line (Linear) or half a cosine wave
  /// (Cosine).
  enum Kind { Constant, Linear, Cosine } kind = Constant;
  /// `warmup` is the number of warmup steps. `steps` is the step in which the
  /// decay ends, counted from 0. `final` is the factor after the decay. All
  /// three must be 0 or more. Linear and Cosine need `steps` > `warmup`.
  /// Constant has no decay.
  double warmup = 0, steps = 0, final = 0;
};

/// Parses the value of `--lr-schedule`, such as `cosine(steps=1000,
/// warmup=10)`. Returns an error with exit code 2 if the syntax, the name of a
/// setting or a number is wrong.
StatusOr<LearningRateSchedule> parseLearningRateSchedule(llvm::StringRef text);

/// Builds the factor by which --lr is multiplied in one step. `step` is the
/// number of this step, an f64 scalar that counts from 0. Returns null for a
/// constant schedule without warmup, because its factor is always 1.
mlir::Value buildLearningRateFactor(ArithmeticBuilder &builder,
                                    mlir::Value step,
                                    const LearningRateSchedule &schedule);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
