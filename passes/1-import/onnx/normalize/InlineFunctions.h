//===- InlineFunctions.h - replaces calls by function bodies --------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"

namespace pcc::onnx {

/// Sets the opset of every node, replaces every call of a function of the
/// model, also in subgraphs and in other functions, by the function's body, and
/// empties `model.functions`. A function is found by domain, name and overload,
/// and takes precedence over an op of that name.
///
///   call 'blk' (my.Scale) x -> y {by=2}     function Scale(a) => (b) <by, of=1>
///                                             c = Mul <k: int = @by> (a, a)
///                                             b = Add <k: int = @of> (c, a)
///   becomes                                 blk/c = Mul <k=2> (x, x)
///                                           y = Add <k=1> (blk/c, x)
///
/// Names of values inside are the call's name, "/" and the name in the body,
/// with a number after it where that name is taken. An attribute whose
/// parameter has neither value nor default is left out. The body's nodes
/// inherit the device configurations of the call, as far as they are about the
/// values that a node touches.
///
/// Expects a model that `validateModel` has accepted; keeps what that promises.
MaybeError inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_INLINEFUNCTIONS_H
