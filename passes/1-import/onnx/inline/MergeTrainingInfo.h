//===- MergeTrainingInfo.h - inference and training as one graph ----------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Merges the graphs `initialization` and `algorithm` of the model's
/// TrainingInfo, if any, into the main graph. Names of `initialization` get the
/// prefix "initialization/". Returns the error Unsupported for several
/// TrainingInfos, and CannotRead for an `initialization` with inputs.
Status mergeTrainingInfo(Model &model);

/// Returns "initialization/" followed by `output`. `output` is the name of a
/// value in the graph TrainingInfo::initialization. mergeTrainingInfo gives the
/// value the returned name. For example, "w" becomes "initialization/w".
std::string initializationName(std::string_view output);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_MERGETRAININGINFO_H
