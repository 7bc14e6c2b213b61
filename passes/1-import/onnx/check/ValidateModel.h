//===- ValidateModel.h - checks of names and order of an ONNX model -------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the main graph, all subgraphs and the bodies of all functions of
/// `model`. Sorts the nodes of each of these graphs topologically. The graphs
/// must satisfy these rules:
///
///  - Each node has an op type.
///  - Each input and each initializer has a name.
///  - Each value is defined only once: by an input, by an initializer or by a
///    node. There is one exception: an initializer may have the name of an
///    input of the same graph. The initializer is then the default value of the
///    input. If the initializer is dense, its element type and its shape must
///    fit the type of the input.
///  - A graph that contains a subgraph is an enclosing graph of the subgraph.
///    The subgraph must not define a value with a name that an enclosing graph
///    already defines.
///  - Each value that a node reads is defined in the node's own graph or in an
///    enclosing graph. Each output of a graph is defined in the graph or in an
///    enclosing graph.
///  - The nodes do not form a cycle. If a subgraph of a node reads a value, the
///    node also counts as a reader of the value. For example, a branch of an If
///    must not read the result of the If.
///
/// Returns the first violation, with exit code 3. After an error the model must
/// not be used.
Status validateModel(Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
