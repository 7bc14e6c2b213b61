//===- ValidateModel.h - checks of names and order of an ONNX model -------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the main graph, all subgraphs and all function bodies of `model`, and
/// sorts the nodes of each topologically. Each node needs an op type. Each
/// input and initializer needs a name. A value has exactly one definition in
/// its graph and the enclosing graphs. Only an initializer may have the name of
/// an input of its graph, if the types fit. Each value that a node reads or a
/// graph returns must be defined in the graph or an enclosing graph. The nodes
/// must not form a cycle. A value that a subgraph reads counts as read by its
/// node. Returns the first violation, with exit code 3. After an error the
/// model must not be used.
Status validateModel(Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
