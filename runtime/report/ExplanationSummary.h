//===- ExplanationSummary.h - explanation of a plan for a page ------------===//

#ifndef PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H
#define PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H

#include <nlohmann/json.hpp>

namespace pcc::runtime {

/// Returns a shorter form of `explained`, the JSON of `pcc explain --json`, for
/// an HTML page. The result has the fields of `explained`, with two changes.
/// The entries of "collectives" keep only some fields, such as the kind, the
/// bytes, the seconds and the stage. The causes of the collectives are in the
/// new field "reasons" instead.
///
/// "reasons" has one entry for all collectives that are equal except for their
/// stage, their number of calls, and the numbers in names: 'h.0.fc' and
/// 'h.1.fc' count as equal. An entry of "reasons" has the fields of the first
/// of its collectives, and these:
///
///  - "calls": number of calls in a step, over all its collectives and stages
///  - "stages": the stages that run its collectives
///  - "nodes": names of their nodes, at most 8; "more_nodes" counts the others
///
/// The entries are sorted by the seconds that they take in a step, longest
/// first. Throws an exception of nlohmann::json if a field is missing.
nlohmann::ordered_json
summarizeExplanation(const nlohmann::ordered_json &explained);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H
