//===- BindOpsets.h - which version of its op a node means ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_BINDOPSETS_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_BINDOPSETS_H

#include "passes/1-import/onnx/normalize/FunctionTable.h"

namespace pcc::onnx {

/// Sets Node::opset in all graphs and functions, from the imports of the
/// function where it is one and else from those of the model. Calls keep 0. A
/// domain that is not imported is an error, and so is, outside of functions, an
/// attribute that takes the value of a parameter.
MaybeError bindOpsets(Model &model, const FunctionTable &table);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_BINDOPSETS_H
