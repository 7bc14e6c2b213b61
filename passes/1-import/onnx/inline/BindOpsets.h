//===- BindOpsets.h - opset versions of the nodes of a model --------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H

#include "passes/1-import/onnx/inline/FunctionTable.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets Node::opset, the opset version that applies, of all nodes in graphs,
/// subgraphs and function bodies. In a function, the opset imports of the
/// function take precedence over those of the model. Calls of functions in
/// `table` keep opset 0.
///
/// Returns an error with exit code 3 if a node's domain is not imported, or if
/// an attribute outside of a function refers to a function parameter.
Status bindOpsets(Model &model, const FunctionTable &table);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
