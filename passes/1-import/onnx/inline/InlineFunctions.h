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
/// two attribute parameters, `p` and `q`. The parameter `p` has no default
/// value. The parameter `q` has the default value 1. In the body, @p stands for
/// the value of the parameter `p`:
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
/// ONNX nodes may be annotated with a pipeline stage, and with a sharding for
/// each operand and result. A new node may lack an annotation that the call
/// has. If the new node has no pipeline stage, the new node gets the pipeline
/// stage of the call. If the call has a sharding for the tensor x, each new
/// node that reads or defines x gets this sharding, unless the new node already
/// has a sharding for x.
///
/// `model` must have passed validateModel. `limits` is a set of limits for the
/// reader of a model file. The member `limits.depth` is the largest nesting
/// depth of protobuf messages in the file. The member `limits.messages` is the
/// largest number of protobuf messages in the file. Inlining uses the two
/// numbers for limits of its own. Some errors are:
///
///  - A function calls itself, directly or through other functions.
///  - A chain of calls (function A calls B, B calls C, and so on) has more than
///    `limits.depth` functions.
///  - Calls and subgraphs are nested more than 2 * `limits.depth` deep.
///  - The new nodes and names need more than about 16 * `limits.messages`
///    bytes.
Status inlineFunctions(Model &model, const ReadLimits &limits);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_INLINEFUNCTIONS_H
