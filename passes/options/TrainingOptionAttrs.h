//===- TrainingOptionAttrs.h - options of training as attributes ----------===//

#ifndef PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H
#define PCC_PASSES_OPTIONS_TRAININGOPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks --schedule and the training options without the model. Exit code 2:
/// one of them is given without --train, or --schedule names neither a schedule
/// nor a .csv file. Exit code 6: the schedule cannot run with the numbers of
/// stages and microbatches.
Status checkTraining(const CompileOptions &options);

/// Checks the training options of a user who gives --train without --loss. The
/// imported `module` must then contain a training step (ONNX TrainingInfo).
/// Options that the step defines, such as --lr, are errors. All errors have
/// exit code 2.
Status checkLoss(mlir::ModuleOp module, const CompileOptions &options);

/// Checks that each name or glob in --freeze, --train-only and --decay matches
/// a weight. The weights are the parameters of `module` and the names in
/// `others`: weights with one element, for which the import may have folded the
/// parameter to a constant. If a name matches no weight, returns an error with
/// exit code 2 that contains similar names.
Status checkWeightNames(mlir::ModuleOp module, std::vector<std::string> others,
                        const TrainingOptions &training);

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
