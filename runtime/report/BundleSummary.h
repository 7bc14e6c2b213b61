//===- BundleSummary.h - description of a bundle for a page ---------------===//

#ifndef PCC_RUNTIME_REPORT_BUNDLESUMMARY_H
#define PCC_RUNTIME_REPORT_BUNDLESUMMARY_H

#include "status/Status.h"

#include <nlohmann/json.hpp>
#include <string>

namespace pcc::runtime {

/// Returns the part of `inspected`, the JSON of `pcc inspect --json`, that a
/// page of a report shows. The result has the same fields, but one entry for
/// all ranks with equal programs, so that the text stays small for thousands of
/// ranks:
///
///  - "groups" replaces "ranks". Ranks with the same stages are one group. The
///    field "ranks" of a group has the numbers of its first and last rank. The
///    sizes in a group are those of its first rank in `inspected`.
///  - "parameters" lists every weight of every group once. The field "parts" of
///    a weight lists at most 16 different shards, each with its index ranges
///    and the first "rank" that holds it. The field "more" is the number of
///    other shards.
///  - entries of "stages" have no list of ranks.
///
/// Throws an exception of nlohmann::json if a field is missing.
nlohmann::ordered_json summarizeBundle(const nlohmann::ordered_json &inspected);

/// Reads the files bundle.json and explain.json in the directory `bundle`, and
/// adds their summaries to `source` as the fields "bundle" and "explain"
/// (ExplanationSummary). A bundle that was made from a dump of 7-emit has no
/// explain.json; there is no field "explain" then. If more than 1,024 ranks run
/// one program, only the weight shards of the first 1,024 of these ranks are
/// listed. The field "parts_of_ranks" of "bundle" is then 1024. Returns an
/// error with exit code 11 if a file is damaged, if there is no bundle.json, or
/// if explain.json belongs to another bundle.
Status addBundle(const std::string &bundle, nlohmann::ordered_json &source);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_BUNDLESUMMARY_H
