//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks the training options, such as --optimizer, and the option --schedule,
/// the pipeline schedule. The function does not need the model. checkLoss()
/// makes a further check after pcc has read the model. Errors of this function:
///
///  - Exit code 2: the user gives a training option or --schedule, but not
///    --train.
///  - Exit code 2: the value of --schedule is neither the name of a schedule
///    (such as 1f1b) nor a path that ends in .csv.
///  - Exit code 6: the schedule that --schedule names cannot run with the
///    number of stages per rank. For example, the schedule zb-v needs 2
///    pipeline stages on each rank.
///  - Exit code 6: the number of ranks in the pipeline, of stages per rank, or
///    of microbatches is less than 1.
Status checkTraining(const CompileOptions &options);

/// Checks the training options of a user who gives --train, but not --loss.
/// `module` is the imported model. There are two cases:
///
///  - The model contains a training step (ONNX TrainingInfo). This training
///    step defines the loss and the optimizer. The user may give only these
///    training options: --train, --dropout, --seed, --recompute, --loss-scale
///    and --reproducible. Any other training option, such as --optimizer, is an
///    error with exit code 2.
///  - The model contains no training step. The function returns an error with
///    exit code 2, because only --loss can define the loss.
///
/// If the user gives --loss, the function does nothing, because --loss then
/// defines the loss. If the user does not give --train, the function does
/// nothing, because the user does not train the model.
Status checkLoss(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the number of pipeline stages that run on each rank of the pipeline.
/// If the user gives --virtual-stages, returns the number in this option.
/// Otherwise, returns 2 for the schedules interleaved and zb-v, and 1 for all
/// other schedules.
int64_t numVirtualStages(const CompileOptions &options);

/// Stores the training options in the module attribute `graph.training`. This
/// attribute is a dictionary. For example, --optimizer adamw and --lr 0.1 give
/// {optimizer = "adamw", lr = 0.1}. Does nothing if the user does not give
/// --train.
///
/// In general, the dictionary has one entry for each training option that the
/// user gives. The exceptions are:
///
///  - --optimizer: if the user does not give this option, the dictionary has
///    the entry `optimizer` with the value "sgd".
///  - --betas: the dictionary has two entries, `beta1` and `beta2`.
///  - --recompute and --reproducible: the dictionary has no entry, because
///    other attributes store the values of these options.
///  - --train: the dictionary has no entry. The existence of the dictionary
///    means that the user has given --train.
void recordTraining(mlir::ModuleOp module, const CompileOptions &options);

/// Sets `options.training` to the training options of an earlier compilation.
/// The earlier compilation has stored the training options in attributes of
/// `module`. There are two cases:
///
///  - `module` has the attribute `graph.training`. The earlier compilation had
///    the option --train. The function sets `options.training.train` to true.
///    The function reads the value of --reproducible from the attribute
///    `graph.reproducible`. The option --recompute gets its default value, even
///    if an attribute of `module` stores another value of this option. The
///    function reads the values of all other training options from the
///    attribute `graph.training`.
///  - `module` has no attribute `graph.training`. The earlier compilation did
///    not have the option --train. All training options get their default
///    values. For example, `options.training.train` is false.
void restoreTrainingOptions(mlir::ModuleOp module, CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
