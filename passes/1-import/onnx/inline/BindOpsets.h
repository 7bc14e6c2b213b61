//===- BindOpsets.h - opset versions of the nodes of a model --------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H

#include "passes/1-import/onnx/inline/FunctionTable.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets the member `opset` of all nodes of `model`: the nodes of the main
/// graph, of the function bodies and of all subgraphs. The member is the opset
/// version that applies to the node. A model lists an opset version for each
/// operator domain, and a function may have a list of its own. For a node in a
/// function, the version in the function's list takes precedence over the
/// version in the model's list. `table` finds the function that a node calls. A
/// node that calls a function is no operator, so its member `opset` stays 0.
/// Returns an error with the exit code CannotRead in two cases:
///
///  - No list that applies to a node has the domain of the node.
///  - An attribute of a node refers to a parameter of a function, but the node
///    does not lie in a function.
Status bindOpsets(Model &model, const FunctionTable &table);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
