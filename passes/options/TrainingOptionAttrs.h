//===- TrainingOptionAttrs.h - how to train, as attributes of the module --===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "passes/Outcome.h"

#include <map>

namespace pcc {

/// Refuses settings without --train, and schedules that there are not.
Outcome checkTraining(const CompileOptions &options);

/// Refuses --train without a loss, unless the imported model says itself how it
/// is trained, and then what only goes with a loss.
Outcome checkLoss(mlir::ModuleOp module, const TrainingOptions &options);

/// What --virtual-stages says, or the default of the schedule.
int64_t numVirtualStages(const CompileOptions &options);

/// Writes `graph.training`, which the passes of 2-prepare read.
void recordTraining(mlir::ModuleOp module, const TrainingOptions &options);

/// The options that were recorded; --train is among them if any were.
TrainingOptions restoreTrainingOptions(mlir::ModuleOp module);

/// The options by their names, as typed.
void addTrainingText(const TrainingOptions &options,
                     std::map<std::string, std::string> &text);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
