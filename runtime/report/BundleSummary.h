//===- BundleSummary.h - description of a bundle for a page ---------------===//

#ifndef PCC_RUNTIME_REPORT_BUNDLESUMMARY_H
#define PCC_RUNTIME_REPORT_BUNDLESUMMARY_H

#include "status/Status.h"

#include <nlohmann/json.hpp>
#include <string>

namespace pcc::runtime {

/// Returns what a page shows of `inspected`, the JSON of `pcc inspect --json`.
/// The result has the same fields, but ranks with equal programs are one entry,
/// so that the text stays small for thousands of ranks:
///
///  - "groups" replaces "ranks". Ranks with the same stages are one group, with
///    the numbers of its "ranks" as [first, last], and with the sizes that
///    `inspected` tells of its first rank.
///  - "parameters" lists every weight of every group once. "parts" has the
///    different index ranges that ranks hold, at most 16 of them, each with the
///    first "rank" that holds it. "more" counts the others.
///  - entries of "stages" have no list of ranks.
///
/// Throws an exception of nlohmann::json if a field is missing.
nlohmann::ordered_json summarizeBundle(const nlohmann::ordered_json &inspected);

/// Reads the description of the bundle in the directory `bundle` into
/// `summary`. Of the ranks that run one program, the parts of at most 1,024 are
/// compared; "parts_of_ranks" tells so if there are more.
/// Returns an error with exit code 11 if bundle.json cannot be read.
Status summarizeBundleFolder(const std::string &bundle,
                             nlohmann::ordered_json &summary);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_BUNDLESUMMARY_H
