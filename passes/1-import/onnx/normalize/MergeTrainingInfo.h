//===- MergeTrainingInfo.h - inference and training as one graph ----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// Adds the graphs of the model's TrainingInfo to the model's graph, so that
/// the result computes one training step:
///
///   nodes   initialization | inference | algorithm
///
/// Values of the initialization are renamed by initializationName, so that they
/// do not clash with others. Initializers, inputs, outputs and value infos of
/// the algorithm are appended to those of the model. `model.training` is not
/// changed: importers read the bindings there. A model without TrainingInfo is
/// not changed.
///
/// Returns an error with exit code 4 if there are several TrainingInfos, and
/// with exit code 3 if the initialization has inputs.
MaybeError mergeTrainingInfo(Model &model);

/// Returns the name that the value `output` of the initialization graph has in
/// the merged graph: `initialization/NAME`.
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H
