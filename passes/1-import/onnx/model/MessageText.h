//===- MessageText.h - text from model files in messages ------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Returns `name` in single quotes, for messages. Each byte of a control
/// character is replaced by `\x` and two hexadecimal digits. Example: a line
/// break becomes `\x0a`. Each byte that is not valid UTF-8 is replaced in the
/// same way. If `name` has more than 200 bytes, only the first 100 and the last
/// 100 bytes are kept, with "…" between them.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
