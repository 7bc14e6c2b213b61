//===- ReadModel.h - reader of ONNX model files ---------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_READMODEL_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "status/StatusOr.h"

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Reads the ONNX file at `path`, checks it, sorts the nodes topologically,
/// inlines functions and sets each node's `opset`. Does not read the bytes of
/// weights. If `trains` is true, the main graph computes one training step.
/// Exit codes are CannotRead, Unsupported, CannotMeet and InputOutput.
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
/// calls of functions that the model defines. The model refers to `bytes`, so
/// the caller must keep `bytes` alive as long as the model. Error messages call
/// the model `path`. The function does not open a file at `path`.
StatusOr<Model> readModelFromBytes(std::string_view bytes,
                                   const std::string &path,
                                   const ReadLimits &limits = {});

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_READMODEL_H
