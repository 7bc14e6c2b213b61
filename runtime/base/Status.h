//===- Status.h - success, or an error with an exit code and notes --------===//

#ifndef PCC_RUNTIME_BASE_STATUS_H
#define PCC_RUNTIME_BASE_STATUS_H

#include <string>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// Exit codes of the command line interface, as `pcc --help` lists them.
enum ExitCode : int {
  Done = 0,           ///< success
  Defect = 1,         ///< internal error of pcc
  WrongUsage = 2,     ///< invalid command line
  CannotRead = 3,     ///< unreadable model
  Unsupported = 4,    ///< possible, but not implemented
  UnboundDim = 5,     ///< a symbolic dim has no value
  CannotMeet = 6,     ///< a valid request that cannot be satisfied
  InputOutput = 7,    ///< a file operation failed
  BadInput = 10,      ///< input data is missing or malformed
  DamagedBundle = 11, ///< damaged bundle, checkpoint or weight file
  WrongWorld = 12,    ///< number of ranks that does not fit the bundle
  NoDevice = 13,      ///< device, its libraries or its memory unavailable
  PeerLost = 14,      ///< another rank failed or missed a deadline
  ValuesDiffer = 15,  ///< verification found different values
};

/// Result of an operation: success, or an error. An error has a message (one
/// line that begins in lower case), any number of notes, and the exit code that
/// the process ends with if nothing handles the error. A caller must not ignore
/// a returned Status.
class [[nodiscard]] Status {
public:
  /// Returns the status of an operation that succeeded.
  static Status success() { return Status(); }
  /// Returns an error. `code` must not be Done. Each of `notes` is one line
  /// that tells a cause or a remedy.
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
  /// Returns the error's message; empty on success.
  const std::string &message() const { return text; }
  const std::vector<std::string> &notes() const { return noteLines; }
  /// Appends one note to an error and returns this status.
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
