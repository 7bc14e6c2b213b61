//===- MessageText.cpp - text from model files in messages ----------------===//

#include "passes/1-import/onnx/model/MessageText.h"
#include "status/PrintableText.h"

std::string pcc::onnx::quoted(std::string_view name) {
  constexpr size_t longest = 200;
  if (name.size() <= longest)
    return "'" + printable(name) + "'";
  return "'" + printable(name.substr(0, longest / 2)) + "…" +
         printable(name.substr(name.size() - longest / 2)) + "'";
}
