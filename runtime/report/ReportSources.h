//===- ReportSources.h - files that a report shows ------------------------===//

#ifndef PCC_RUNTIME_REPORT_REPORTSOURCES_H
#define PCC_RUNTIME_REPORT_REPORTSOURCES_H

#include "status/Status.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Input of a report page (README.md): a file, a bundle, or a text in memory.
struct ReportInput {
  /// Path of the file or bundle. If `text` is set, a name for it in error
  /// messages.
  std::string name;
  /// Text in memory, with the content that a file would have. If std::nullopt,
  /// the file or bundle at the path `name` is read.
  std::optional<std::string> text = std::nullopt;
  /// Title of the input on the page. If empty, the title is the name of the
  /// file or bundle. For a text in memory, the title is then its kind and its
  /// name, such as "explain (NAME)".
  std::string title = {};
};

/// Reads `input`, and sets `source` to its JSON object in the data of a report
/// page (README.md). Determines the kind of `input` from its content: the JSON
/// of inspect, explain, plan, --report or --measurements, or the lines of
/// --metrics. Ignores the last line of metrics if it is incomplete. Returns an
/// error with exit code 3 if the file cannot be read or is of another kind.
Status readReportSource(const ReportInput &input,
                        nlohmann::ordered_json &source);

/// Returns the name of the file or folder at `path`, which may end in a slash.
std::string nameOfPath(const std::string &path);

/// Reads all of `inputs`, and gives each source a title. Files with equal names
/// have their whole paths as titles.
Status readReportSources(const std::vector<ReportInput> &inputs,
                         nlohmann::ordered_json &sources);

/// Parses the lines that --metrics writes: one JSON object for each training
/// step. Returns a JSON array of these objects. Returns null if a line of
/// `text` is anything else. Ignores a last line without a newline.
nlohmann::ordered_json parseMetrics(const std::string &text);

/// Adds the report of a run, with or without a timeline, to `source`. A
/// timeline has one row per rank. If there are more than 16 rows, keeps one row
/// for each pipeline position (ranks that run the same stages): the row of the
/// rank that is idle for the shortest time. If `source` contains no bundle,
/// keeps the first 16 rows.
void addRunReport(nlohmann::ordered_json report,
                  nlohmann::ordered_json &source);

/// Returns whether a run still has the metrics file at `path` open.
bool isBeingWritten(const std::string &path);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_REPORT_REPORTSOURCES_H
