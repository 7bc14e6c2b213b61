//===- InlineFunctions.h - inlining of all ONNX functions -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets the opset version of every node. Replaces every function call by the
/// nodes of the function's body. Afterwards, `model.functions` is empty.
///
/// Example: the function Scale has the input a and the output b. It also has
/// two parameters p and q, which give values to attributes. The parameter p has
/// no default value. The parameter q has the default value 1. The body has two
/// nodes, and each has an attribute k. In the body, @p stands for the value of
/// p, and @q stands for the value of q:
///
///   Scale(a) => (b) <p, q=1>
///     c = Mul <k: int = @p> (a, a)
///     b = Add <k: int = @q> (c, a)
///
/// A node with the name blk calls the function: y = Scale <p=2> (x). These two
/// nodes replace the node blk:
///
///   blk/c = Mul <k=2> (x, x)
///   y     = Add <k=1> (blk/c, x)
///
/// The new value name blk/c consists of the name of the call, "/" and the name
/// in the body. If the model already has a value blk/c, the new name gets a
/// number, such as blk/c_1. If a parameter has no value, each attribute that
/// refers to the parameter is erased.
///
/// A node may have multi-device annotations: a pipeline stage, and a sharding
/// for each operand and result. The nodes that replace a call get the
/// annotations of the call:
///
///  - A new node without a pipeline stage gets the pipeline stage of the call.
///  - If the call has a sharding for the tensor x, each new node that reads or
///    defines x gets this sharding, unless it already has a sharding for x.
///
/// `model` must have passed validateModel. `limits` holds numbers that limit
/// the memory and the depth of recursion. Two of these numbers apply here. The
/// number `limits.depth` is 100 by default. The number `limits.messages` is
/// about 16 million by default. Returns an error in these cases, among others:
///
///  - A function calls itself, directly or through other functions.
///  - A chain of calls (function A calls B, B calls C, and so on) has more than
///    `limits.depth` functions.
///  - A node lies inside more than 2 * `limits.depth` inlined calls and
///    subgraphs.
///  - The new nodes and names together need more memory than about 16 bytes
///    times `limits.messages`: 256 MiB by default.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
