//===- ReportPage.h - a report as one HTML page ---------------------------===//

#ifndef PCC_RUNTIME_REPORT_REPORTPAGE_H
#define PCC_RUNTIME_REPORT_REPORTPAGE_H

#include <nlohmann/json.hpp>
#include <string>

namespace pcc::runtime {

/// Returns the page of a report: HTML with its style, its scripts and its data.
/// It needs no other file. `sources` is the list of the plans, runs and
/// trainings that the page shows; each is an object with the fields in
/// README.md. If `follows`, the page loads itself again every five seconds.
/// Equal arguments give equal pages.
std::string reportPage(const nlohmann::ordered_json &sources,
                       bool follows = false);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_REPORTPAGE_H
