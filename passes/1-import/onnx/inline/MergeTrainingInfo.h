//===- MergeTrainingInfo.h - inference and training as one graph ----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Merges the two graphs of the model's TrainingInfo into the model's main
/// graph. The graph `initialization` computes initial values of weights. The
/// graph `algorithm` computes one training step, and may read values of the
/// main graph. The merged graph has these nodes, in this order:
///
///   1. nodes of `initialization`, with "initialization/" before value names
///   2. nodes of the model's main graph
///   3. nodes of `algorithm`
///
/// Does nothing if the model has no TrainingInfo. `model.training`, the list of
/// the model's TrainingInfos, is not changed. Returns an error with the exit
/// code Unsupported if the model has several TrainingInfos. Returns an error
/// with the exit code CannotRead if `initialization` has inputs.
Status mergeTrainingInfo(Model &model);

/// Returns "initialization/" followed by `output`. `output` is the name of a
/// value in the graph TrainingInfo::initialization. mergeTrainingInfo gives the
/// value the returned name. For example, "w" becomes "initialization/w".
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
