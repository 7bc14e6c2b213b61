//===- ImportError.h - error that ends an import --------------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H
#define PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H

#include <string>
#include <vector>

namespace pcc {

/// An ONNX op type that pcc cannot import for some nodes: either pcc lacks the
/// op, or the nodes use attributes or operands that pcc does not support.
struct UnsupportedOp {
  /// Type of the op, such as "Einsum".
  std::string op;
  /// Domain of the op; "" for the standard ops.
  std::string domain;
  /// Names of the nodes that cannot be imported, in the order of the graph.
  /// Node 12, if it has no name, is listed as "#12".
  std::vector<std::string> nodes;
};

/// The reason why a model cannot be imported.
struct ImportError {
  /// Exit code of pcc:
  ///
  ///   2   options do not fit the model
  ///   3   the file is not a valid ONNX model
  ///   4   pcc does not support an op, a form of an op, or a type
  ///   5   a dim is unbound, or shapes contradict each other after binding
  ///   6   an annotation cannot be met
  ///   7   the operating system refuses an operation
  int exitCode = 3;
  /// One line that begins in lower case and has no full stop.
  std::string message;
  /// Further lines, each of which names a cause or a remedy.
  std::vector<std::string> notes;
  /// All unsupported ops of the model, if they are why the exit code is 4.
  /// Empty if exit code 4 is due to an input or initializer; `message` then
  /// names that input or initializer.
  std::vector<UnsupportedOp> unsupported;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H
