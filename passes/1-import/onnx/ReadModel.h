//===- ReadModel.h - reader of ONNX model files ---------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Maps the ONNX file at `path` into memory, parses, checks and normalizes it.
/// Weights stored as raw_data are views of the mapping, and their bytes are not
/// read.
///
/// A returned model has these properties, besides those that Model.h states:
///  - It has an IR version, a graph and at least one opset import.
///  - Each value is defined exactly once: by an input, an initializer or a
///    node. A subgraph does not redefine a value of an enclosing graph. An
///    input and an initializer may share a name.
///  - Each value that is used is defined.
///  - Nodes are in topological order. The file's order is kept if it is
///    topological, else changed as little as possible.
///  - Calls of the model's own functions are inlined.
///  - `opset` of each node is set.
///  - Multi-device annotations satisfy the rules of CheckDevices.h.
/// External data are not looked up; see ExternalData.h.
///
/// If `trains` is true, the graph is one step of the training that the model's
/// TrainingInfo describes; see MergeTrainingInfo.h. Without a TrainingInfo the
/// argument has no effect.
///
/// Errors have the exit codes that Error::exitCode lists.
Result<Model> readModel(const std::string &path, const ReadLimits &limits = {},
                        bool trains = false);

/// Maps and parses the ONNX file at `path` without the checks across messages
/// and without changes to the model. Nodes keep their order in the file,
/// function calls are not inlined, and opsets are not bound. Used to copy a
/// model with changes; see the folder write/.
Result<Model> readModelAsWritten(const std::string &path,
                                 const ReadLimits &limits = {});

/// Reads a model from memory, with the guarantees of readModel. The caller must
/// keep `bytes` alive as long as the model. `path` is used in messages only.
Result<Model> readModelFromBytes(std::string_view bytes,
                                 const std::string &path,
                                 const ReadLimits &limits = {});

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
