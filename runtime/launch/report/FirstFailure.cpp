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
  // Write the whole text by a single call, so that the texts of several ranks
  // do not mix.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0)
    return;
}

/// Writes the error into a file of this rank, such as `report.2` for rank 2.
/// Then gives the complete file the second name `report` by link(2). This has
/// two effects:
///
/// - A process that reads `report` never sees an incomplete error.
/// - link(2) fails if `report` exists already. Only the first rank that calls
///   link(2) thus gives its file the name `report`.
///
/// Finally removes the name `report.2`.
bool leaveReport(const std::string &folder, int rank, const Status &status) {
  const std::string draft = folder + "/report." + std::to_string(rank);
  {
    std::ofstream file(draft);
    file << int(status.code()) << "\n" << linesOf(status);
    if (!file.flush())
      // The error cannot be written, for example because the disk is full. The
      // result false would mean that another rank has written an error into
      // `folder`, and the caller would print nothing. Return true, so that the
      // caller can print the error.
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

/// If the ranks of this host share a folder, calls leaveReport(). leaveReport()
/// writes the error into the folder, unless another rank has already written an
/// error there. This function then prints the error to stderr, except in these
/// cases:
///
/// - Another rank has already written an error.
/// - `pcc run` started this rank. `pcc run` reads the error from the folder
///   after the run, and prints the error.
///
/// If the ranks share no folder, each rank that fails prints its error. There
/// is one exception: if `onAllRanks` is true, all ranks have the same error,
/// and only rank 0 prints it.
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
    // Another rank reports its error. Wait before this process ends: as soon as
    // one rank ends, a launcher such as mpirun kills the other ranks. The other
    // rank has probably reported its error after 0.1 s.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return status.code();
}

} // namespace pcc::runtime
