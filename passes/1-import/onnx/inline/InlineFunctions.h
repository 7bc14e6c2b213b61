//===- InlineFunctions.h - inlining of all ONNX functions -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets the opset version of every node, replaces every call of a function that
/// the model defines by the function's body, and empties `model.functions`.
/// Calls in subgraphs and in other functions are included. A function takes
/// precedence over an op with the same domain, name and overload. For the
/// function
///
///   Scale(a) => (b) <by, of=1>
///     c = Mul <k: int = @by> (a, a)
///     b = Add <k: int = @of> (c, a)
///
/// the node blk, which is the call y = Scale <by=2> (x), becomes
///
///   blk/c = Mul <k=2> (x, x)
///   y     = Add <k=1> (blk/c, x)
///
/// The name of an inner value consists of the call's name, "/", and the value's
/// name in the function. A number is appended if that name is taken. An
/// attribute that refers to a parameter of the function is erased if the
/// parameter has neither a value nor a default.
///
/// Each inlined node inherits the call's multi-device annotations: the pipeline
/// stage, and the shardings of values that the node reads or defines.
///
/// `model` must have passed validateModel, and would still pass it after this
/// call. Returns an error if the depth of calls or the size of the inlined
/// nodes exceeds `limits`.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
