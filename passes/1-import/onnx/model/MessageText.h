//===- MessageText.h - text from model files in messages ------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H

#include <string>
#include <string_view>

namespace pcc::onnx {

/// Returns `name` in single quotes, for an error message that is safe on a
/// terminal. Replaces control characters and invalid UTF-8 by `\x` and two hex
/// digits. If `name` has more than 200 bytes, keeps only the first 100 and the
/// last 100.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MESSAGETEXT_H
