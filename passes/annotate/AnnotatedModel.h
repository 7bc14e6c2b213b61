//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes an annotated copy of an ONNX model to the file `path`. `module` was
/// imported from this model, and has passed phase 4-shard and no later phase.
/// The annotations state the module's shardings and pipeline stages. Both ONNX
/// multi-device annotations and metadata are written.
///
/// Annotations cannot express all shardings. A note to `listener` states the
/// number of values without annotation. Errors:
///  - exit code 6: `module` was not imported from an .onnx file;
///  - exit code 6: the weight files do not lie below the folder of `path` (ONNX
///    forbids locations with "..");
///  - exit code 7: the file cannot be written. No incomplete file remains.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
