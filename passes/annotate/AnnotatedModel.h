//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes an annotated copy of an ONNX model, the one from which `module` was
/// imported, to the file `path`. The annotations are the shardings and pipeline
/// stages that phase 4-shard has decided, as ONNX multi-device annotations and
/// as metadata. `module` must have passed phase 4-shard and no later phase.
///
/// Annotations cannot express all decisions. If values lack an annotation,
/// passes a note with their number to `listener`. Returns exit code 6 if
/// `module` was not imported from an .onnx file. Also returns exit code 6 if
/// the weight files do not lie below the folder of `path`, because ONNX forbids
/// locations with "..". Returns exit code 7 if the file cannot be written; no
/// incomplete file remains then.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
