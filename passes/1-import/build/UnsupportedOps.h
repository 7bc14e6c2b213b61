//===- UnsupportedOps.h - collector of nodes that pcc cannot import -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
#define PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H

#include "passes/1-import/build/UnsupportedOp.h"
#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx_import {

/// Collects the nodes of a model that pcc cannot import, so that one error
/// lists all of them.
class UnsupportedOps {
public:
  /// Records that `node` cannot be imported. An empty `reason` means that pcc
  /// lacks the op. Otherwise `reason` describes the unsupported type, operand
  /// or attribute.
  void add(const onnx::Node &node, const std::string &reason = "");

  /// Returns success if add() was never called. Otherwise returns an error with
  /// the exit code 4 (Unsupported). The error message lists the op types of all
  /// nodes that pcc cannot import. For each op type, the message lists the
  /// names of up to 8 nodes. The error also contains the first 8 reasons that
  /// were passed to add().
  Status status() const;
  /// Returns a list of ONNX op types, each with the names of the nodes that pcc
  /// cannot import, such as Einsum with the nodes "a" and "b".
  const std::vector<UnsupportedOp> &list() const { return ops; }

private:
  /// The reason why one node cannot be imported.
  struct Reason {
    /// `node` is the label of a node, such as "'a' (Einsum)" or "#12 (Einsum)".
    /// `text` is the reason why pcc cannot import this node.
    std::string node, text;
  };
  /// Unsupported ops, each with its nodes, in the order of first occurrence.
  std::vector<UnsupportedOp> ops;
  /// Reasons why pcc cannot import nodes, in the order of the calls of add(). A
  /// call of add() without a reason adds nothing to the list: pcc then lacks
  /// the op of the node.
  std::vector<Reason> reasons;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
