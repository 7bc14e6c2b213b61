//===- VerifyReport.h - verify's JSON -------------------------------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// All that a verification has found out.
struct Findings {
  graph::Numerics numerics = graph::Numerics::Exact;
  /// Outputs of the simulated ranks.
  std::vector<VerifiedValue> outputs;
  /// Outputs of the compiled executables, if they were run.
  std::vector<VerifiedValue> executed;
  /// The first value of the simulated ranks that differs, if an output does.
  std::optional<VerifiedValue> first;

  /// The first output that differs, or null.
  const VerifiedValue *simulatedDifference() const;
  const VerifiedValue *executedDifference() const;
};

/// Writes the JSON; nothing if `path` is empty.
runtime::Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
