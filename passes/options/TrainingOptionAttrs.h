//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "passes/Outcome.h"

#include <map>

namespace pcc {

/// Checks the options of training: they need --train, and --schedule must name
/// a known schedule that fits the numbers of positions, stages and
/// microbatches. Returns exit code 2 or 6 otherwise.
Outcome checkTraining(const CompileOptions &options);

/// Checks that --train has a --loss, or that the module is a training step by
/// the model's own TrainingInfo. In the second case, options that need a --loss
/// are errors. Returns exit code 2 on an error.
Outcome checkLoss(mlir::ModuleOp module, const TrainingOptions &options);

/// Returns the number of stages per position: --virtual-stages, or else the
/// default of the schedule.
int64_t numVirtualStages(const CompileOptions &options);

/// Records the options in `graph.training`, and in the attributes for
/// recomputation and reproducibility, for the passes of 2-prepare and later
/// phases. Does nothing without --train.
void recordTraining(mlir::ModuleOp module, const TrainingOptions &options);

/// Returns the options that recordTraining() has recorded, with `train` set if
/// there are any. `recompute` is not restored.
TrainingOptions restoreTrainingOptions(mlir::ModuleOp module);

/// Adds the options that were given to `text`, by their names on the command
/// line.
void addTrainingText(const TrainingOptions &options,
                     std::map<std::string, std::string> &text);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
