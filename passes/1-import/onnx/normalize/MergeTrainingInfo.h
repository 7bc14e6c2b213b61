//===- MergeTrainingInfo.h - one graph of a model and its training --------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// Makes one graph of the model's graph and of what its TrainingInfo adds,
/// which stays as it is: nodes, initializers, inputs and outputs of the
/// algorithm come behind those of the model, the initialization in front, its
/// values called `initialization/NAME`. Models without TrainingInfo stay.
///
/// Fails if there are several, which would be steps of different kinds.
MaybeError mergeTrainingInfo(Model &model);

/// What mergeTrainingInfo has made of an output of the initialization.
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_MERGETRAININGINFO_H
