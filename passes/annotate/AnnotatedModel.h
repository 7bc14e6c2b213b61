//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes a copy of the ONNX model of `module` to `path`. Annotations in the
/// copy contain the mesh, the shardings and the stages. Phase 4-shard must be
/// the last phase that has run on `module`. Returns an error with one of these
/// exit codes:
///
/// - 3: the ONNX model cannot be read.
/// - 6: `module` was not made from an .onnx file, or the copy cannot refer to
///   the weight files of the model from the directory of `path`.
/// - 7: the copy cannot be written.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
