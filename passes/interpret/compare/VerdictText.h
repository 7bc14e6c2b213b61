//===- VerdictText.h - a verification without a difference, in words ------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERDICTTEXT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERDICTTEXT_H

#include "passes/interpret/compare/VerifyReport.h"

namespace pcc::interpret {

/// Returns a text with the largest relative errors, such as 0.02 on the
/// simulated ranks and 0.01 on one rank. Call it only for `findings` without a
/// wrong value, because the text says that all values are equal. Example:
///
///   equal in f64 (relative error 2e-16 in 'y', 1 output) and as accurate as
///   one rank in the model's types (relative errors 0.02 and 0.01)
///
/// The text says which elements are NaN, and which overflow in the model's
/// types. It says nothing about accuracy if no other elements are left.
std::string describeErrors(const Findings &findings);

/// Returns a text about the first value that differs. A value without a name
/// is told by its op, and compared with the closest value that the model
/// computes at this place. Examples:
///
///   the first value that differs is 'y' of node 'Gemm_1': it differs at [0] …
///   the first value that differs is the result of graph.mul at node 'Gemm_1':
///   from the closest value there, it differs at [0] …
std::string describeFirst(const VerifiedValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERDICTTEXT_H
