//===- ReportSources.h - files that a report shows ------------------------===//

#ifndef PCC_RUNTIME_REPORT_REPORTSOURCES_H
#define PCC_RUNTIME_REPORT_REPORTSOURCES_H

#include "status/Status.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Something that a page shows: a file, a bundle, or a text in memory.
struct ReportInput {
  /// Path of the file or bundle. For a text, the name that errors give it.
  std::string name;
  /// The text, with the content of such a file. If null, the file is read.
  std::optional<std::string> text = std::nullopt;
  /// Title on the page. If empty, the name of the file, or the kind of the text
  /// with its name.
  std::string title = {};
};

/// Reads `input` as a source of a page (README.md). Its content tells its kind:
/// the JSON of inspect, explain, plan, --report or --measurements, or the lines
/// of --metrics. A last line that is not complete is ignored. Returns an error
/// with exit code 3 if the file cannot be read or is of another kind.
Status readReportSource(const ReportInput &input,
                        nlohmann::ordered_json &source);

/// Returns the name of the file or folder at `path`, which may end in a slash.
std::string nameOfPath(const std::string &path);

/// Reads all of `inputs`, and gives each source a title. Files with equal names
/// have their whole paths as titles.
Status readReportSources(const std::vector<ReportInput> &inputs,
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
