//===- UnsupportedOps.h - all that a model has and pcc lacks --------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
#define PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H

#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Collects nodes that cannot be imported, so that one error names all of them.
class UnsupportedOps {
public:
  /// `node` is of an op that pcc does not know, or for `reason` of an unknown
  /// form.
  void add(const onnx::Node &node, const std::string &reason = "");

  /// Whether there are any; then `error` lists them by op, with counts and
  /// names.
  bool report(ImportError &error) const;

private:
  struct Reason {
    std::string node, text;
  };
  std::vector<UnsupportedOp> ops;
  std::vector<Reason> reasons;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_UNSUPPORTEDOPS_H
