//===- UnsupportedOp.h - ONNX op that pcc cannot import -------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOP_H
#define PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOP_H

#include <string>
#include <vector>

namespace pcc {

/// An ONNX op type with nodes that pcc cannot import. Either pcc lacks the op,
/// or the nodes use unsupported attributes or operands.
struct UnsupportedOp {
  /// Type of the op, such as "Einsum".
  std::string op;
  /// Domain of the op; "" for the standard ops.
  std::string domain;
  /// Names of the nodes that cannot be imported, in the order of the graph. An
  /// unnamed node at index 12 is listed as "#12".
  std::vector<std::string> nodes;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOP_H
