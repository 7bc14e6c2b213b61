//===- InlineFunctions.h - inlining of all ONNX functions -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Replaces every function call by the nodes of the function's body, and sets
/// the opset version of every node. The new nodes get the call's pipeline stage
/// and shardings. `model` must have passed validateModel(). Returns an error if
/// a function calls itself, or if nesting or memory exceeds `limits`.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
