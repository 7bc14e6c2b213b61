//===- Locations.cpp - MLIR locations of ONNX nodes -----------------------===//

#include "passes/1-import/build/Locations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir;

namespace pcc::onnx_import {

/// Parses one frame of a Python stack trace: `File "model.py", line 26, in
/// forward`. Returns nothing if `text` is not a frame.
static std::optional<PythonLine> parseFrame(StringRef text) {
  text = text.ltrim();
  unsigned line;
  if (!text.consume_front("File \""))
    return std::nullopt;
  auto [file, rest] = text.split("\", line ");
  if (rest.consumeInteger(10, line))
    return std::nullopt;
  return PythonLine{file.str(), line};
}

std::optional<PythonLine> pythonLine(const onnx::Node &node) {
  std::optional<PythonLine> innermost;
  for (const onnx::MetadataEntry &entry : node.metadata) {
    if (entry.key != "pkg.torch.onnx.stack_trace")
      continue;
    SmallVector<StringRef> lines;
    StringRef(entry.value.data(), entry.value.size()).split(lines, '\n');
    for (StringRef line : lines)
      if (auto frame = parseFrame(line))
        innermost = frame;
  }
  return innermost;
}

std::string nameInLocations(const onnx::Node &node) {
  if (!node.name.empty())
    return std::string(node.name);
  return std::string(node.opType) + "#" + std::to_string(node.index);
}

Location locationOf(const onnx::Node &node, MLIRContext *context) {
  Location loc = NameLoc::get(StringAttr::get(context, nameInLocations(node)));
  auto line = pythonLine(node);
  if (!line)
    return loc;
  return CallSiteLoc::get(
      loc, FileLineColLoc::get(context, line->file, line->line, 1));
}

} // namespace pcc::onnx_import
