//===- InlineFunctions.h - inlining of all ONNX functions -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets the opset version of every node, replaces every call of a function of
/// the model by the function's body, and empties `model.functions`. For the
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
/// A name that is taken gets a number. An attribute whose parameter has no
/// value is erased. Inlined nodes inherit the call's multi-device annotations.
///
/// `model` must have passed validateModel. Returns an error if the depth of
/// calls or the size of the inlined nodes exceeds `limits`.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
