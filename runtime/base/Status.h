//===- Status.h - success, or one error with an exit code -----------------===//

#ifndef PCC_RUNTIME_BASE_STATUS_H
#define PCC_RUNTIME_BASE_STATUS_H

#include <string>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// Exit codes of the interface (`pcc --help` lists them).
enum ExitCode : int {
  Done = 0,
  Defect = 1,
  WrongUsage = 2,
  CannotRead = 3,
  Unsupported = 4,
  UnboundDim = 5,
  CannotMeet = 6,
  InputOutput = 7,
  BadInput = 10,
  DamagedBundle = 11,
  WrongWorld = 12,
  NoDevice = 13,
  PeerLost = 14,
  ValuesDiffer = 15,
};

/// Success, or an error: one line that begins in lower case, notes, and the
/// exit code that it ends the process with.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(ExitCode code, std::string message,
                      std::vector<std::string> notes = {}) {
    Status status;
    status.exitCode = code;
    status.text = std::move(message);
    status.noteLines = std::move(notes);
    return status;
  }

  bool ok() const { return exitCode == Done; }
  bool failed() const { return exitCode != Done; }
  ExitCode code() const { return exitCode; }
  const std::string &message() const { return text; }
  const std::vector<std::string> &notes() const { return noteLines; }
  Status &addNote(std::string note) {
    noteLines.push_back(std::move(note));
    return *this;
  }

private:
  ExitCode exitCode = Done;
  std::string text;
  std::vector<std::string> noteLines;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STATUS_H
