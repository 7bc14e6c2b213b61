//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks the options of training without the model. Errors:
///  - exit code 2: an option needs --train, or --schedule names no known
///    schedule;
///  - exit code 6: the schedule does not fit the numbers of pipeline positions,
///    stages and microbatches.
Status checkTraining(const CompileOptions &options);

/// Checks that --train has a --loss; returns exit code 2 if not. Exception: a
/// model with its own training step (ONNX TrainingInfo) needs no --loss.
/// Without --loss, options such as --optimizer are then errors.
Status checkLoss(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the number of stages per pipeline position (rank of the pipeline):
/// --virtual-stages, or else the default of the schedule.
int64_t numVirtualStages(const CompileOptions &options);

/// Records the training options in `graph.training`. Does nothing without
/// --train.
void recordTraining(mlir::ModuleOp module, const CompileOptions &options);

/// Sets `options.training` to the training options that attributes of the
/// module record. Sets the member `train` if there are any. Does not restore
/// the member `recompute`.
void restoreTrainingOptions(mlir::ModuleOp module, CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
