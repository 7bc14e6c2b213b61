//===- ReadModel.h - reader of ONNX model files ---------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/StatusOr.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Reads the ONNX file at `path`. Maps the file into memory, parses it, checks
/// the model, sorts the nodes and inlines function calls. If the file stores a
/// weight as raw_data, the weight in the model points into the mapped file, and
/// the bytes of the weight are not read. The function does not look for
/// external data, that is, for tensor elements in files other than the model
/// file. The returned model has these properties:
///
///  - The model has an IR version, a graph and at least one opset import.
///  - Each value that a node reads is defined.
///  - Each value is defined exactly once: by an input, an initializer or a
///    node. Only an input and an initializer may share a name.
///  - The nodes are in topological order: each node comes after the nodes whose
///    results it reads. The order is as close to the file's order as possible.
///  - No node calls a function that the model defines. The nodes of the
///    function's body have replaced each call.
///  - The member `opset` of each node holds the opset version that applies to
///    the node.
///  - The multi-device annotations of the nodes obey the rules that the comment
///    of checkDevices() lists. A multi-device annotation gives the pipeline
///    stage of a node and the shardings of its tensors. One of the rules is
///    that a sharding splits no dim twice.
///
/// `limits` are upper bounds for the model, such as the largest number of
/// functions. A model that exceeds a bound is an error.
///
/// An ONNX model may contain TrainingInfo: graphs with further nodes, which
/// train the model. If `trains` is true, the function adds these nodes to the
/// main graph. The main graph then computes one training step. If `trains` is
/// false, the function does not add them.
///
/// An error has one of these exit codes:
///
///   CannotRead    the model cannot be read
///   Unsupported   the model uses a feature that pcc does not support
///   CannotMeet    a multi-device annotation breaks a rule of checkDevices()
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
