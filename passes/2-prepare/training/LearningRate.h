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
/// In each step, the learning rate is --lr times a factor. The factor grows to
/// 1 in K steps, and then decays to F, which it reaches in step N:
///
///   factor       warmup       decay (linear or cosine)
///      1 |         /----------.___
///        |       /                `---.___
///      F |     /                          `----------------
///      0 +---/--------------------------------------------- step
///            0     K                       N
///
/// In step s < K, counted from 0, the factor is (s + 1) / K. The cosine decay
/// is SGDR without restarts (Loshchilov and Hutter 2017). A constant schedule
/// has no decay.
struct LearningRateSchedule {
  /// Curve of the learning rate after the warmup. The warmup is the first part
  /// of the training. The learning rate of a step is --lr times a factor.
  /// `final` is a setting of the schedule. There are three curves:
  ///
  ///   Constant   the factor stays 1
  ///   Linear     the factor goes from 1 to `final` along a straight line
  ///   Cosine     the factor goes from 1 to `final` along half a cosine wave
  enum Kind { Constant, Linear, Cosine } kind = Constant;
  /// Settings of the schedule. The learning rate of a step is --lr times a
  /// factor:
  ///
  ///   warmup   number of steps in which the factor grows to 1
  ///   steps    step in which the decay of the factor ends
  ///   final    factor after the decay
  ///
  /// Steps are counted from 0, at the start of training. For example, with
  /// `warmup` = 10 and `steps` = 100, the factor is 1 in step 10, and is
  /// `final` from step 100 on. No setting may be negative. The kinds Linear and
  /// Cosine require that `steps` is greater than `warmup`. The kind Constant
  /// has no decay, and does not use `steps` and `final`.
  double warmup = 0, steps = 0, final = 0;
};

/// Parses the value of `--lr-schedule`, such as `cosine(steps=1000,
/// warmup=10)`. Returns an error if the syntax, the name of a setting or a
/// number is wrong.
StatusOr<LearningRateSchedule> parseLearningRateSchedule(llvm::StringRef text);

/// Builds the factor by which --lr is multiplied in one step. `step` is the
/// number of this step, an f64 scalar that counts from 0. Returns null for a
/// constant schedule without warmup, because its factor is always 1.
mlir::Value buildLearningRateFactor(ArithmeticBuilder &builder,
                                    mlir::Value step,
                                    const LearningRateSchedule &schedule);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
