//===- Error.cpp - what is wrong with a model file ------------------------===//

#include "passes/1-import/onnx/Error.h"

std::string pcc::onnx::quoted(std::string_view name) {
  constexpr size_t longest = 200;
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "'";
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.size() > longest && i == longest / 2) {
      text += "…";
      i = name.size() - longest / 2;
    }
    const auto c = static_cast<unsigned char>(name[i]);
    if (c >= 0x20 && c != 0x7f)
      text += name[i];
    else
      text += {'\\', 'x', digits[c >> 4], digits[c & 15]};
  }
  return text + "'";
}
