//===- MergeTrainingInfo.h - inference and training as one graph ----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Merges the graphs of the model's TrainingInfo into the model's graph, which
/// then computes one training step. The merged graph has these nodes, in this
/// order:
///
///   1. nodes of the initialization, with values renamed by initializationName
///   2. nodes of the model's graph
///   3. nodes of the algorithm
///
/// `model.training` is not changed. Returns an error with exit code 4 for
/// several TrainingInfos, and with 3 if the initialization has inputs.
Status mergeTrainingInfo(Model &model);

/// Returns "initialization/" followed by `output`. `output` is the name of a
/// value in the graph TrainingInfo::initialization. mergeTrainingInfo gives the
/// value the returned name. For example, "w" becomes "initialization/w".
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
