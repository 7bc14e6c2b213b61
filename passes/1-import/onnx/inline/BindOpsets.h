//===- BindOpsets.h - opset versions of the nodes of a model --------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H

#include "passes/1-import/onnx/inline/FunctionTable.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets Node::opset of all nodes in graphs, subgraphs and function bodies.
/// Opset imports of a function take precedence over those of the model. Nodes
/// that call a function in `table` keep opset 0. Returns an error with exit
/// code 3 for:
///
///  - a node whose domain is not imported
///  - an attribute that refers to a function parameter, although its node is
///    not part of a function
Status bindOpsets(Model &model, const FunctionTable &table);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
