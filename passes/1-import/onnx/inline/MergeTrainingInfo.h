//===- MergeTrainingInfo.h - inference and training as one graph ----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Adds the graphs of the model's TrainingInfo to the model's graph, so that
/// the result computes one training step. The merged graph has these nodes, in
/// this order:
///
///   1. the nodes of the initialization
///   2. the nodes of the model's graph
///   3. the nodes of the algorithm
///
/// Values of the initialization are renamed by initializationName.
/// Initializers, inputs, outputs and value infos of the algorithm are appended
/// to those of the model. `model.training` is not changed: importers read its
/// bindings, the pairs of a weight and the value written to it. A model without
/// TrainingInfo is not changed.
///
/// Returns an error with exit code 4 if there are several TrainingInfos, and
/// with exit code 3 if the initialization has inputs.
Status mergeTrainingInfo(Model &model);

/// Returns the name in the merged graph of the value that the initialization
/// graph calls `output`: "initialization/" followed by `output`.
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
