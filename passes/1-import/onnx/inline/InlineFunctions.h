//===- InlineFunctions.h - inlining of all ONNX functions -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Replaces every function call by the nodes of the function's body, and sets
/// the opset version of every node. Afterwards, `model.functions` is empty.
/// Example for the call y = Scale <p=2> (x) with the name blk, where @p is the
/// value of p:
///
///   Scale(a) => (b) <p, q=1>
///     c = Mul <k: int = @p> (a, a)   ->   blk/c = Mul <k=2> (x, x)
///     b = Add <k: int = @q> (c, a)   ->   y     = Add <k=1> (blk/c, x)
///
/// An attribute is erased if its parameter has no value. New nodes get the
/// pipeline stage and shardings of the call, unless they have their own.
/// `model` must have passed validateModel. Returns an error if a function calls
/// itself, if calls or subgraphs are nested too deeply (`limits.depth`), or if
/// new nodes and names need over about 16 bytes times `limits.messages`.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
