//===- ValidateModel.h - checks of names and order of an ONNX model -------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks all graphs and function bodies of `model`, and sorts their nodes
/// topologically. Each value must have one definition, and each value that is
/// read must be defined. The nodes must not form a cycle. Returns the first
/// error, with exit code CannotRead; the model must then not be used.
Status validateModel(Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_VALIDATEMODEL_H
