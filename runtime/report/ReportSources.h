//===- ReportSources.h - files that a report shows ------------------------===//

#ifndef PCC_RUNTIME_REPORT_REPORTSOURCES_H
#define PCC_RUNTIME_REPORT_REPORTSOURCES_H

#include "status/Status.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Reads the file or bundle at `path` as a source of a page (README.md). Its
/// content tells the kind of the file: the JSON of inspect, explain, plan,
/// --report or --measurements, or the lines of --metrics. A last line that is
/// not complete is ignored. Returns an error with exit code 3 if the file
/// cannot be read or is of another kind.
Status readReportSource(const std::string &path,
                        nlohmann::ordered_json &source);

/// Returns the name of the file or folder at `path`, which may end in a slash.
std::string nameOfPath(const std::string &path);

/// Reads all files in `paths`. Their names become the titles of the sources;
/// files with equal names have their whole paths as titles.
Status readReportSources(const std::vector<std::string> &paths,
                         nlohmann::ordered_json &sources);

/// Reads a description of a training step per line, as --metrics writes them.
/// Returns a list, which is null if `text` is something else.
nlohmann::ordered_json parseMetrics(const std::string &text);

/// Adds the report of a run, with or without a timeline, to `source`. Of the
/// rows of the timeline, at most 16 are kept: if the run has more ranks, one of
/// each pipeline position, the one that is idle for the shortest time.
void addRunReport(nlohmann::ordered_json report,
                  nlohmann::ordered_json &source);

/// Returns whether a run still has the metrics file at `path` open.
bool isBeingWritten(const std::string &path);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_REPORTSOURCES_H
