//===- LearningRate.h - how fast a step may go ----------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H

#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// `--lr-schedule NAME(steps=N, warmup=K, final=F)`: the learning rate as a
/// share of --lr. It grows linearly over the first K steps (0 unless said),
/// then it is constant, or falls until step N to F (0 unless said), in a line
/// or as half a cosine, and stays there.
struct LearningRateSchedule {
  enum Kind { Constant, Linear, Cosine } kind = Constant;
  double warmup = 0, steps = 0, final = 0;
};

/// Nothing, and `error` says why, if `text` has another form.
std::optional<LearningRateSchedule>
parseLearningRateSchedule(llvm::StringRef text, std::string &error);

/// The share in step `step`, an f64 scalar that counts from 0; null if it is 1
/// in all of them.
mlir::Value buildLearningRateFactor(ArithmeticBuilder &builder,
                                    mlir::Value step,
                                    const LearningRateSchedule &schedule);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LEARNINGRATE_H
