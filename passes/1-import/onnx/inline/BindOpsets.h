//===- BindOpsets.h - opset versions of the nodes of a model --------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H

#include "passes/1-import/onnx/inline/FunctionTable.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Sets Node::opset of all nodes of `model`. The opset versions of a function
/// take precedence over those of the model. Node::opset of a node that calls a
/// function stays 0. Returns the error CannotRead if a domain has no version,
/// or if an attribute outside of a function refers to a function parameter.
Status bindOpsets(Model &model, const FunctionTable &table);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_BINDOPSETS_H
