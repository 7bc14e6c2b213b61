//===- UnsupportedOps.cpp - collector of nodes that pcc cannot import -----===//

#include "passes/1-import/build/UnsupportedOps.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace pcc::onnx_import {

/// Largest number of nodes that an error names for each op. Also the largest
/// number of reasons that the error lists.
static constexpr size_t namedNodes = 8;

void UnsupportedOps::add(const onnx::Node &node, const std::string &reason) {
  auto same = [&](const UnsupportedOp &other) {
    return other.op == node.opType && other.domain == node.domain;
  };
  auto found = llvm::find_if(ops, same);
  if (found == ops.end()) {
    ops.push_back({std::string(node.opType), std::string(node.domain), {}});
    found = std::prev(ops.end());
  }
  std::string name(node.name);
  found->nodes.push_back(name.empty() ? "#" + std::to_string(node.index)
                                      : name);
  if (!reason.empty())
    reasons.push_back({node.label(), reason});
}

/// Formats an op type and its unsupported nodes for an error message:
/// "3 of org.example.Frob ('a', 'b', 'c')". Names at most `namedNodes` nodes.
static std::string describe(const UnsupportedOp &op) {
  std::string text = std::to_string(op.nodes.size()) + " of " +
                     (op.domain.empty() ? "" : op.domain + ".") + op.op + " (";
  for (auto [i, node] : llvm::enumerate(op.nodes)) {
    if (i == namedNodes)
      return text + ", …)";
    text += (i ? ", " : "") + onnx::quoted(node);
  }
  return text + ")";
}

Status UnsupportedOps::status() const {
  if (ops.empty())
    return Status::success();
  std::string message = reasons.empty()
                            ? "the model has ops that pcc does not know: "
                            : "the model has nodes that pcc does not support: ";
  for (auto [i, op] : llvm::enumerate(ops))
    message += (i ? ", " : "") + describe(op);
  Status error = Status::error(Unsupported, message);
  for (auto &[node, text] : llvm::ArrayRef(reasons).take_front(namedNodes))
    error.addNote("node " + node + ": " + text);
  return error;
}

} // namespace pcc::onnx_import
