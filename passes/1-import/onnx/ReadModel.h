//===- ReadModel.h - reader of ONNX model files ---------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/StatusOr.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Maps the ONNX file at `path` into memory, parses it, checks it and
/// normalizes it. Weights stored as raw_data become views of the mapped file,
/// and their bytes are not read.
///
/// The returned model has these properties, besides those that Model.h states:
///  - It has an IR version, a graph and at least one opset import.
///  - Each value is defined exactly once: by an input, an initializer or a
///    node. A subgraph does not redefine a value of an enclosing graph. An
///    input and an initializer may share a name.
///  - Each value that is used is defined.
///  - Nodes are in topological order. The file's order is kept if it is
///    topological, else changed as little as possible.
///  - Calls of functions that the model defines are inlined.
///  - `opset` of each node is set.
///  - Multi-device annotations satisfy the rules of CheckDevices.h.
/// Files with external data are not looked for; see ExternalData.h.
///
/// If `trains` is true and the model has a TrainingInfo, the graph is that of
/// one training step; see MergeTrainingInfo.h. Without a TrainingInfo, `trains`
/// has no effect.
///
/// An error has one of these exit codes:
///
///   CannotRead    the model cannot be read
///   Unsupported   the model uses a feature that pcc does not support
///   CannotMeet    the model's device annotations cannot be satisfied
///   InputOutput   the operating system refuses access or memory
StatusOr<Model> readModel(const std::string &path,
                          const ReadLimits &limits = {}, bool trains = false);

/// Maps and parses the ONNX file at `path`, and returns the model as the file
/// has it. Unlike readModel, it does not check messages against each other,
/// keeps the nodes in the order of the file, inlines no function calls and sets
/// no opsets. Used to write a changed copy of a model; see the folder write/.
StatusOr<Model> readModelAsWritten(const std::string &path,
                                   const ReadLimits &limits = {});

/// Reads a model from the bytes of an ONNX file. The result has the properties
/// that readModel lists. The caller must keep `bytes` alive as long as the
/// model. `path` is used in messages only.
StatusOr<Model> readModelFromBytes(std::string_view bytes,
                                   const std::string &path,
                                   const ReadLimits &limits = {});

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
