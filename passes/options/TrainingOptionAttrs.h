//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks the training options, and --schedule. Does not need the model.
/// Errors:
///  - Exit code 2: a training option or --schedule without --train.
///  - Exit code 2: --schedule names neither a schedule, such as 1f1b, nor a
///    .csv file.
///  - Exit code 6: the schedule cannot run with the number of stages per rank.
///    For example, zb-v needs 2 stages on each rank.
///  - Exit code 6: the number of pipeline ranks, of stages per rank or of
///    microbatches is less than 1.
Status checkTraining(const CompileOptions &options);

/// Checks the training options of a user who gives --train without --loss.
/// `module` is the imported model. If the model contains a training step (ONNX
/// TrainingInfo), the step defines the loss and the optimizer. Then only
/// --train, --dropout, --seed, --recompute, --loss-scale and --reproducible are
/// allowed. Any other training option is an error with exit code 2. If the
/// model contains no training step, the function returns an error with exit
/// code 2.
Status checkLoss(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the number of pipeline stages that run on each rank of the pipeline.
/// If the user gives --virtual-stages, returns the number in this option.
/// Otherwise, returns 2 for the schedules interleaved and zb-v, and 1 for all
/// other schedules.
int64_t numVirtualStages(const CompileOptions &options);

/// Stores the training options in the module attribute `graph.training`. For
/// example, --optimizer adamw and --lr 0.1 give {optimizer = "adamw", lr =
/// 0.1}. Does nothing without --train. The dictionary has one entry for each
/// training option that the user gives. It lacks --train, --recompute and
/// --reproducible. The entry `optimizer` is "sgd" by default. --betas gives the
/// entries `beta1` and `beta2`.
void recordTraining(mlir::ModuleOp module, const CompileOptions &options);

/// Sets `options.training` to the training options of the compilation that has
/// written `module`. The attribute `graph.training` exists if that compilation
/// had --train, and it contains most of the options. --reproducible comes from
/// the attribute `graph.reproducible`. --recompute always gets its default
/// value. Without `graph.training`, all training options get their default
/// values.
void restoreTrainingOptions(mlir::ModuleOp module, CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
