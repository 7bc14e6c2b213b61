//===- VerifyReport.h - what verify tells ---------------------------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_VERIFYREPORT_H

#include "dialects/graph/meaning/Meaning.h"
#include "passes/interpret/Comparison.h"

namespace pcc::interpret {

/// One output and how well the ranks do on it.
struct VerifiedValue {
  std::string name, node;
  Comparison comparison;
  bool seen = false;
};

/// "output 'logits' differs at [0, 3] on rank 1: expected 0.5, got 0.25".
std::string describe(const VerifiedValue &value);

/// Writes verify's JSON; nothing if `path` is empty. Returns the error, if any.
std::string writeReport(const std::string &path,
                        llvm::ArrayRef<VerifiedValue> values,
                        graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYREPORT_H
