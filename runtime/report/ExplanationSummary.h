//===- ExplanationSummary.h - explanation of a plan for a page ------------===//

#ifndef PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H
#define PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H

#include <nlohmann/json.hpp>

namespace pcc::runtime {

/// Returns what a page shows of `explained`, the JSON of `pcc explain --json`.
/// The result has the same fields, but "collectives" tells only bytes, times
/// and places. Their causes are in "reasons": collectives that differ only in
/// numbers inside of names are one entry. An entry has the fields of its first
/// collective, and these:
///
///  - "calls": number of calls in a step, over all its collectives and stages
///  - "stages": the stages that run them
///  - "nodes": names of their nodes, at most 8; "more_nodes" counts the others
///
/// Entries are sorted by their seconds in a step, dearest first. Throws an
/// exception of nlohmann::json if a field is missing.
nlohmann::ordered_json
summarizeExplanation(const nlohmann::ordered_json &explained);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_EXPLANATIONSUMMARY_H
