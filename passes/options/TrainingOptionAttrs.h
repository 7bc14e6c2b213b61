//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks the options of training without the model. Returns exit code 2 if an
/// option of training is given without --train, or if --schedule names no known
/// schedule. Returns exit code 6 if the schedule does not fit the numbers of
/// pipeline positions, stages and microbatches.
Status checkTraining(const CompileOptions &options);

/// Checks that --train has a --loss. A model that contains its own training
/// step (ONNX TrainingInfo) needs no --loss; options that need a --loss are
/// then errors. Returns exit code 2 on an error.
Status checkLoss(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the number of stages per pipeline position (rank of the pipeline):
/// --virtual-stages, or else the default of the schedule.
int64_t numVirtualStages(const CompileOptions &options);

/// Records the training options in `graph.training`. Does nothing without
/// --train.
void recordTraining(mlir::ModuleOp module, const CompileOptions &options);

/// Sets `options.training` to the training options that are recorded on the
/// module. Sets `train` if there are any. Does not restore `recompute`, which
/// only phase 6-schedule uses: the restored options serve the phases up to
/// 2-prepare.
void restoreTrainingOptions(mlir::ModuleOp module, CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
