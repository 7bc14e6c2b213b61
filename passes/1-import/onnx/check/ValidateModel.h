//===- ValidateModel.h - checks of names and order of an ONNX model -------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks that the main graph, all subgraphs and all function bodies are in
/// static single assignment form, and sorts their nodes topologically:
///
///  - Each value is defined once, under a name that no enclosing graph defines.
///  - Each value that is used is defined.
///  - Each node has an op type.
///  - No node depends on its own result, directly or in a subgraph.
///
/// Returns the first violation, with exit code 3. After an error the model must
/// not be used.
Status validateModel(Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
