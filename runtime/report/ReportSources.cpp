//===- ReportSources.cpp - files that a report shows ----------------------===//

#include "runtime/report/ReportSources.h"

#include "runtime/base/MissingFile.h"
#include "runtime/program/bundle/BundleFields.h"
#include "runtime/report/BundleSummary.h"
#include "runtime/report/ExplanationSummary.h"
#include "status/Counted.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

static Status refuse(const std::string &path, const std::string &why) {
  return Status::error(
      CannotRead, "cannot read '" + path + "': " + why,
      {"pcc report takes the JSON of pcc inspect --json, pcc explain --json, "
       "pcc plan --json, --report or --measurements, the lines of --metrics, "
       "and bundles"});
}

static bool has(const Json &json, std::initializer_list<const char *> fields) {
  return std::all_of(fields.begin(), fields.end(),
                     [&](const char *field) { return json.contains(field); });
}

Json parseMetrics(const std::string &text) {
  Json lines = Json::array();
  std::istringstream stream(text.substr(0, text.rfind('\n') + 1));
  for (std::string line; std::getline(stream, line);) {
    Json step = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!step.is_object() || !has(step, {"step", "loss", "seconds"}))
      return Json();
    lines.push_back(std::move(step));
  }
  return lines;
}

/// Returns the rows that a report shows of a timeline. `rows` has one row per
/// rank. If there are at most 16 rows, returns all of them. Otherwise, returns
/// one row for each group of ranks: the row with the shortest idle time. If
/// `source` has no groups, returns the first 16 rows.
static Json busiestRows(const Json &rows, const Json &source) {
  constexpr size_t mostRows = 16;
  if (rows.size() <= mostRows)
    return rows;
  Json kept = Json::array();
  if (!source.contains("bundle")) {
    kept.insert(kept.end(), rows.begin(), rows.begin() + mostRows);
    return kept;
  }
  for (const Json &group : source["bundle"]["groups"]) {
    const auto first = group["ranks"][0].get<size_t>(),
               last = group["ranks"][1].get<size_t>();
    size_t best = first;
    for (size_t rank = first; rank <= last; ++rank)
      if (rows.at(rank).at("idle_seconds").get<double>() <
          rows.at(best).at("idle_seconds").get<double>())
        best = rank;
    kept.push_back(rows.at(best));
  }
  return kept;
}

void addRunReport(Json report, Json &source) {
  if (report.contains("timeline")) {
    Json timeline = std::move(report["timeline"]);
    report.erase("timeline");
    timeline["rows"] = busiestRows(timeline.at("rows"), source);
    source["measured"] = std::move(timeline);
  }
  source["run"] = std::move(report);
}

/// Adds `content`, the JSON of a file such as the output of `pcc explain
/// --json`, to `source`. Finds out the kind of the file by the names of its
/// fields. Returns an error, which names the file `name`, if a report cannot
/// show this kind. Throws an exception of nlohmann::json if a field is missing.
static Status addContent(const std::string &name, const Json &content,
                         Json &source) {
  if (has(content, {"world", "stages", "ranks", "collectives", "kernels"})) {
    source["kind"] = "inspect";
    source["bundle"] = summarizeBundle(content);
  } else if (has(content, {"world", "totals", "collectives", "lints"})) {
    if (const auto fault = findExplanationFault(content))
      return refuse(name, "its field '" + printable(fault->path) + "' " +
                              fault->what);
    source["kind"] = "explain";
    source["explain"] = summarizeExplanation(content);
  } else if (has(content, {"phases", "seconds", "unsupported", "notes"})) {
    source["kind"] = "compile";
    source["compile"] = content;
  } else if (has(content, {"ranks", "steps"})) {
    source["kind"] = "run";
    addRunReport(content, source);
  } else if (has(content, {"devices", "plans"})) {
    source["kind"] = "plan";
    source["plan"] = content;
  } else {
    return refuse(name, "it is JSON of another kind");
  }
  return Status::success();
}

static Status readText(const std::string &path, std::string &text) {
  constexpr uintmax_t mostBytes = uintmax_t(1) << 30;
  std::error_code error;
  if (!fs::exists(path, error))
    return refuse(path, "it " + describeMissing(path));
  if (!fs::is_regular_file(path, error))
    return refuse(path, "it is not a regular file");
  if (const uintmax_t size = fs::file_size(path, error);
      error || size > mostBytes)
    return refuse(path, error ? error.message()
                              : "it has " + counted(size, "byte") +
                                    ", more than " + std::to_string(mostBytes));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  text = content.str();
  return file ? Status::success() : refuse(path, "reading fails");
}

static Status readBundle(const std::string &folder, Json &source) {
  source = Json::object();
  source["kind"] = "inspect";
  return addBundle(folder, source);
}

/// Converts `text`, the content of `input`, to `source`. If the file is the
/// bundle.json of a bundle, reads the whole bundle that contains the file.
static Status readContent(const ReportInput &input, const std::string &text,
                          Json &source) {
  const std::string &name = input.name;
  if (text.empty())
    return refuse(name, "it is empty");
  if (Json lines = parseMetrics(text); !lines.empty()) {
    source = {{"kind", "training"}, {"metrics", std::move(lines)}};
    return Status::success();
  }
  const Json content = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (content.is_discarded())
    return refuse(name, "it is not JSON");
  if (!input.text && content.is_object() &&
      has(content, {"world", "programs", "seal"}))
    return readBundle(fs::path(name).parent_path().string(), source);
  try {
    source = Json::object();
    return addContent(name, content, source);
  } catch (const std::exception &) {
    return refuse(name, "one of its fields is absent or has a wrong value");
  }
}

Status readReportSource(const ReportInput &input, Json &source) {
  if (input.text)
    return readContent(input, *input.text, source);
  if (fs::is_directory(input.name))
    return readBundle(input.name, source);
  std::string text;
  PCC_RETURN_IF_ERROR(readText(input.name, text));
  return readContent(input, text, source);
}

std::string nameOfPath(const std::string &path) {
  const fs::path whole = fs::path(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path())
      .filename()
      .string();
}

Status readReportSources(const std::vector<ReportInput> &inputs,
                         Json &sources) {
  std::map<std::string, int> uses;
  for (const ReportInput &input : inputs)
    ++uses[nameOfPath(input.name)];
  sources = Json::array();
  for (const ReportInput &input : inputs) {
    Json source;
    PCC_RETURN_IF_ERROR(readReportSource(input, source));
    const std::string name = nameOfPath(input.name);
    source["title"] = uses[name] > 1 ? input.name : name;
    if (input.text)
      source["title"] =
          source["kind"].get<std::string>() + " (" + input.name + ")";
    if (!input.title.empty())
      source["title"] = input.title;
    sources.push_back(std::move(source));
  }
  return Status::success();
}

bool isBeingWritten(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return false;
  const bool isLocked = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return isLocked;
}

} // namespace pcc::runtime
