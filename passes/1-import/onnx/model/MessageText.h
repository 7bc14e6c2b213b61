//===- MessageText.h - text from model files in messages ------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Returns `name` in single quotes for messages, with control characters
/// replaced as by pcc::printable(). In a name of more than 200 bytes, "…"
/// replaces the middle.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
