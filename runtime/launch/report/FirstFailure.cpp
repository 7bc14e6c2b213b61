//===- FirstFailure.cpp - one error message for a job of many ranks -------===//

#include "runtime/launch/report/FirstFailure.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/StatusLines.h"
#include "status/PrintableText.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

static std::string valueOf(const Environment &environment, const char *name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::string formatFailure(const Status &status) {
  std::string text = "pcc: error: " + printable(status.message()) + "\n";
  for (const std::string &note : status.notes())
    text += "note: " + printable(note) + "\n";
  return text;
}

static void print(const Status &status) {
  const std::string text = formatFailure(status);
  // A single write, so that lines of several ranks do not mix.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0)
    return;
}

// Writes the report under a draft name, then links it to `report`. Readers thus
// never see an incomplete report, and only the first rank's link succeeds.
bool leaveReport(const std::string &folder, int rank, const Status &status) {
  const std::string draft = folder + "/report." + std::to_string(rank);
  {
    std::ofstream file(draft);
    file << int(status.code()) << "\n" << linesOf(status);
    if (!file.flush())
      // No rank can write a report into this folder, so all ranks print.
      return true;
  }
  const bool first = link(draft.c_str(), (folder + "/report").c_str()) == 0;
  const bool taken = !first && errno == EEXIST;
  unlink(draft.c_str());
  return !taken;
}

std::optional<Status> readReport(const std::string &folder) {
  constexpr size_t mostBytes = 1 << 20;
  std::string text;
  if (readTextFile(folder + "/report", mostBytes, text).failed())
    return std::nullopt;
  const size_t end = text.find('\n');
  if (end == std::string::npos || end + 1 == text.size())
    return std::nullopt;
  return statusOfLines(ExitCode(std::strtol(text.c_str(), nullptr, 10)),
                       text.substr(end + 1));
}

std::string sharedFolder(const Environment &environment) {
  for (const char *name :
       {kStatusFolderVariable, kSessionFolderVariable, "PMIX_SERVER_TMPDIR"})
    if (std::string folder = valueOf(environment, name); !folder.empty())
      return folder;
  return "";
}

/// Prints nothing under `pcc run`, which prints the report in the status
/// folder.
int reportFailure(const Status &status, const Environment &environment,
                  int rank, bool onAllRanks,
                  const std::function<void(Status &)> &beforePrinting) {
  const std::string ours = valueOf(environment, kStatusFolderVariable);
  const std::string folder = sharedFolder(environment);
  if (folder.empty() ? (rank == 0 || !onAllRanks)
                     : leaveReport(folder, rank, status)) {
    if (ours.empty()) {
      Status told = status;
      if (beforePrinting)
        beforePrinting(told);
      print(told);
    }
  } else {
    // Wait until the reporting rank has printed, because the launcher ends the
    // job as soon as one rank ends.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return status.code();
}

} // namespace pcc::runtime
