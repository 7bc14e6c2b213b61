//===- AnnotatedModel.h - a model with what was decided about it ----------===//

#ifndef PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
#define PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Outcome.h"

namespace pcc {

/// The name of the device configuration that pcc writes.
inline constexpr char writtenConfiguration[] = "pcc";

/// Writes the ONNX model that `module` was made of to `path`, with the
/// shardings and stages that `4-shard` has decided as multi-device annotations
/// and metadata. Notes tell what annotations cannot say.
Outcome writeAnnotatedModel(mlir::ModuleOp module, const std::string &path,
                            const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_ANNOTATEDMODEL_H
