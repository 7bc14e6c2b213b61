//===- ReadModel.h - from a path to a checked model -----------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Maps and reads the ONNX file at `path`. No byte of a tensor is touched.
///
/// What a returned model promises, on top of the comments in Model.h:
///  - it has an IR version, a graph and at least one opset import;
///  - each value is defined exactly once, by an input, an initializer or a node
///    (an input may share its name with an initializer), also across
///    subgraphs, and each value that is used is defined;
///  - nodes stand in topological order: as in the file if that is one, else
///    sorted with as few changes as possible;
///  - calls of the model's own functions are inlined, and each node's `opset`
///  is
///    set;
///  - its multi-device annotations are those that CheckDevices.h lets pass.
/// External tensors are not looked up: see ExternalData.h.
///
/// With `trains` the graph is a step of the model's own training, if it has
/// one: see MergeTrainingInfo.h.
Result<Model> readModel(const std::string &path, const ReadLimits &limits = {},
                        bool trains = false);

/// The same without what changes a model: nothing is checked across messages,
/// nodes stand as in the file, and calls are calls.
Result<Model> readModelAsWritten(const std::string &path,
                                 const ReadLimits &limits = {});

/// The same as readModel for bytes in memory, which must outlive the model.
/// `path` only appears in messages.
Result<Model> readModelFromBytes(std::string_view bytes,
                                 const std::string &path,
                                 const ReadLimits &limits = {});

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
