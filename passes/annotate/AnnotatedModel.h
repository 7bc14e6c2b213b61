//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes an annotated copy of an ONNX model to the file `path`. `module` was
/// imported from this model. It must have passed phase 4-shard and no later
/// phase. The annotations are the shardings and pipeline stages that 4-shard
/// has decided. They are written as ONNX multi-device annotations and as
/// metadata.
///
/// Annotations cannot express all decisions. If values lack an annotation,
/// passes a note with their number to `listener`. Errors:
///  - exit code 6: `module` was not imported from an .onnx file;
///  - exit code 6: the weight files do not lie below the folder of `path` (ONNX
///    forbids locations with "..");
///  - exit code 7: the file cannot be written. No incomplete file remains.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
