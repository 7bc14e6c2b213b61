//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes a copy of the ONNX model of `module` to `path`, with the mesh, the
/// shardings and the stages. Phase 4-shard must be the last phase of `module`.
/// Returns exit code 3 if the ONNX model cannot be read, 7 if the copy cannot
/// be written, and 6 if the copy is impossible.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
