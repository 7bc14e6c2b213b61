//===- MessageText.cpp - text from model files in messages ----------------===//

#include "passes/1-import/onnx/model/MessageText.h"

std::string pcc::onnx::escaped(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    if (c >= 0x20 && c != 0x7f)
      line += character;
    else
      line += {'\\', 'x', digits[c >> 4], digits[c & 15]};
  }
  return line;
}

std::string pcc::onnx::quoted(std::string_view name) {
  constexpr size_t longest = 200;
  if (name.size() <= longest)
    return "'" + escaped(name) + "'";
  return "'" + escaped(name.substr(0, longest / 2)) + "…" +
         escaped(name.substr(name.size() - longest / 2)) + "'";
}
