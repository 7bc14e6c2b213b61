//===- UnsupportedOps.h - collector of nodes that pcc cannot import -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
#define PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H

#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Collects nodes that cannot be imported, so that one error names all of them.
class UnsupportedOps {
public:
  /// Records `node`. An empty `reason` means that pcc lacks the op; otherwise
  /// `reason` describes the unsupported form.
  void add(const onnx::Node &node, const std::string &reason = "");

  /// Returns whether any node was recorded. If so, `error` gets exit code 4 and
  /// lists the ops with counts and node names; the notes give the first
  /// reasons.
  bool report(ImportError &error) const;

private:
  /// The unsupported form of one node.
  struct Reason {
    /// Label of the node, and what pcc does not support about it.
    std::string node, text;
  };
  /// Unsupported ops, each with its nodes, in the order of first occurrence.
  std::vector<UnsupportedOp> ops;
  /// Reasons, in the order of the nodes.
  std::vector<Reason> reasons;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
