//===- ReadModel.h - reader of ONNX model files ---------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/StatusOr.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Reads the ONNX file at `path`: maps it into memory, parses it, checks it and
/// normalizes it. Weights stored as raw_data become views of the mapped file;
/// their bytes are not read. Files with external data are neither searched nor
/// opened. The returned model has these properties:
///
///  - It has an IR version, a graph and at least one opset import.
///  - Each value that a node reads is defined.
///  - Each value is defined exactly once: by an input, an initializer or a
///    node. Only an input and an initializer may share a name.
///  - Nodes are in topological order, as close to the file's order as possible.
///  - Calls of functions that the model defines are inlined.
///  - Each node has its opset version in `opset`.
///  - Multi-device annotations satisfy the rules of checkDevices().
///
/// If `trains` is true, the nodes of the model's TrainingInfo are merged into
/// the graph. The graph then computes one training step.
///
/// An error has one of these exit codes:
///
///   CannotRead    the model cannot be read
///   Unsupported   the model uses a feature that pcc does not support
///   CannotMeet    the model's device annotations cannot be satisfied
///   InputOutput   the operating system refuses access or memory
StatusOr<Model> readModel(const std::string &path,
                          const ReadLimits &limits = {}, bool trains = false);

/// Maps the ONNX file at `path` into memory and parses it. The returned model
/// is exactly as in the file: this function does not check the model, does not
/// sort the nodes, and does not inline calls of functions. (readModel() does
/// all three.) Returns an error if the model exceeds one of the `limits`, such
/// as the nesting depth.
StatusOr<Model> readModelAsWritten(const std::string &path,
                                   const ReadLimits &limits = {});

/// Reads a model from `bytes`, the contents of an ONNX file. Checks and changes
/// the model as readModel() does: sorts the nodes topologically, and inlines
/// calls of functions that the model defines. The model refers to parts of
/// `bytes`. The caller must therefore keep `bytes` alive as long as the model.
/// Error messages call the model `path`. The function does not open a file at
/// `path`.
StatusOr<Model> readModelFromBytes(std::string_view bytes,
                                   const std::string &path,
                                   const ReadLimits &limits = {});

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
