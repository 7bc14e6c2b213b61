//===- MessageText.h - text from model files in messages ------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Returns `name` in single quotes, for an error message. The result is safe to
/// print on a terminal, even if `name` comes from a damaged model file. A byte
/// is replaced by `\x` and two hexadecimal digits in two cases:
///
///  - The byte belongs to a character that controls a terminal. Examples are a
///    line break and a character that reverses the direction of writing. A line
///    break becomes `\x0a`.
///  - The byte is not valid UTF-8.
///
/// If `name` has more than 200 bytes, the function first shortens it: the first
/// 100 bytes and the last 100 bytes remain, with "…" between them. The function
/// then replaces bytes in the remaining text.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
