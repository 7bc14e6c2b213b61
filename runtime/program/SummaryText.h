//===- SummaryText.h - the few lines that a user sees after compile -------===//

#ifndef PCC_RUNTIME_PROGRAM_SUMMARYTEXT_H
#define PCC_RUNTIME_PROGRAM_SUMMARYTEXT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pcc::runtime {

/// Estimate of one step of a bundle.
struct StepEstimate {
  double seconds = 0;
  /// Mean share of the step in which a rank is idle, from 0 to 1.
  double idleShare = 0;
};

/// Returns a summary of a bundle in three lines, without a line break at the
/// end. For example:
///
///     4 ranks (pp=2, tp=2), cpu, f32
///       each rank: up to 573.9 KiB (364.9 KiB weights + 209.0 KiB arena)
///       each step: about 310 ms, 12 % idle; receives up to 176.0 KiB
///
/// `bundle` has the fields of bundle.json. The element type in the first line
/// is that of most weights. The second line is about a rank that needs the most
/// memory.
std::string summaryText(const nlohmann::ordered_json &bundle,
                        const StepEstimate &step);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SUMMARYTEXT_H
