//===- ReportPage.h - a report as one HTML page ---------------------------===//

#ifndef PCC_RUNTIME_REPORT_REPORTPAGE_H
#define PCC_RUNTIME_REPORT_REPORTPAGE_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Returns the page of a report: HTML with its style, its scripts and its data.
/// It needs no other file. `sources` is the list of the plans, runs and
/// trainings that the page shows; each is an object with the fields in
/// README.md. Equal arguments give equal pages.
///
/// `followedAt` is the time, in seconds since 1970, of a page that will be
/// written again. In a browser, this page loads itself again every five
/// seconds. It stops when `followedAt` is more than a minute ago, because then
/// no process writes the page any more.
std::string reportPage(const nlohmann::ordered_json &sources,
                       std::optional<int64_t> followedAt = std::nullopt);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_REPORTPAGE_H
