//===- ImportError.h - why a model cannot be imported ---------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H
#define PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H

#include <string>
#include <vector>

namespace pcc {

/// An op that pcc does not know, or whose form it does not know.
struct UnsupportedOp {
  std::string op;
  std::string domain;
  /// Labels of the nodes, in the order of the graph.
  std::vector<std::string> nodes;
};

/// Why a model cannot be imported. `message` is one line that begins in lower
/// case; `notes` are further lines, each a cause.
struct ImportError {
  /// 2 options that do not fit the model, 3 not a valid model, 4 unsupported, 5
  /// unbound dims or contradicting shapes, 6 annotations that cannot be met, 7
  /// the operating system refuses.
  int exitCode = 3;
  std::string message;
  std::vector<std::string> notes;
  /// All of them, if exitCode is 4 and ops are the reason; what an input or an
  /// initializer is that pcc lacks is in the message.
  std::vector<UnsupportedOp> unsupported;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTERROR_H
