//===- ValidateModel.h - each value defined once, before its uses ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// Checks the names of the main graph, of all subgraphs and of all function
/// bodies: each value is defined once and under no name of an enclosing graph,
/// each value that is used is defined, each node has an op type, and no node
/// needs its own result. Sorts nodes that stand before their producers.
///
/// A node with subgraphs needs what these take from outside.
MaybeError validateModel(Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
