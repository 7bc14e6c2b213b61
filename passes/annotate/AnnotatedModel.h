//===- AnnotatedModel.h - ONNX model with decided shardings ---------------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"

namespace pcc {

/// Name of the ONNX device configuration that pcc adds to the model.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes a copy of the ONNX model of `module` to `path`, with the mesh, the
/// shardings and the pipeline stages. `module` must have passed phase 4-shard
/// and no later phase. A value gets no sharding if an op reads it as a partial
/// sum (one term per rank), or if it is a weight with different shardings on
/// two stages. `listener` gets the number of these values. Errors:
///  - exit code 3: the ONNX model cannot be read;
///  - exit code 6: `module` comes from no .onnx file, or the copy cannot refer
///    to the separate files with weights;
///  - exit code 7: `path` cannot be written. No incomplete file remains.
Status writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                           const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
