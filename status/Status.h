//===- Status.h - success, or an error with an exit code and notes --------===//

#ifndef PCC_STATUS_STATUS_H
#define PCC_STATUS_STATUS_H

#include <string>
#include <utility>
#include <vector>

namespace pcc {

/// Exit codes of pcc's command line, as `pcc --help` lists them. Codes 8 and 9
/// are not used.
enum ExitCode : int {
  /// The command did what it was asked for.
  Done = 0,
  /// A defect of pcc. The message asks to report it and names a reproducer.
  Defect = 1,
  /// The command line is invalid: an unknown option, an impossible value, or a
  /// phase or dim that does not exist.
  WrongUsage = 2,
  /// The model cannot be read: it is truncated, its external data is missing or
  /// lies outside of the model's directory, or it is not valid ONNX or IR.
  CannotRead = 3,
  /// The model or the request needs an op, a form or an element type that pcc
  /// does not have.
  Unsupported = 4,
  /// A dynamic dim has no size, or the given sizes contradict the model.
  UnboundDim = 5,
  /// A valid request cannot be met: a sharding, an annotation, a stage cut, a
  /// schedule or a memory limit.
  CannotMeet = 6,
  /// A file cannot be read or written.
  InputOutput = 7,
  /// Input data of a run is missing, has another shape or type, or holds an
  /// index that lies outside of its table.
  BadInput = 10,
  /// A bundle, a checkpoint or a weight file is damaged, altered or made by
  /// another build.
  DamagedBundle = 11,
  /// The number of processes is not that of the bundle, or the launcher's
  /// variables contradict each other.
  WrongWorld = 12,
  /// A device, its driver, a library, an instruction set or memory is not
  /// available.
  NoDevice = 13,
  /// Another rank failed or missed a deadline. The message names the rank.
  PeerLost = 14,
  /// `pcc verify` found values that differ.
  ValuesDiffer = 15,
  /// Training was stopped on request, by a signal or because the reader of
  /// stdout is gone, after it had saved a checkpoint.
  Stopped = 16,
  /// Training ended itself, because a loss or a gradient is not finite.
  Diverged = 17,
};

/// Returns the exit code of a run that signal number `signal` ended and that
/// had nothing to save: 128 plus the number, as in shells.
inline ExitCode endedBySignal(int signal) { return ExitCode(128 + signal); }

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
  /// Returns this error with `prefix` before its message.
  Status prefixed(const std::string &prefix) const {
    return error(exitCode, prefix + text, noteLines);
  }
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

/// Evaluates an expression that gives a Status. Returns that status from the
/// enclosing function, whose result is a Status or a StatusOr, if it is an
/// error.
#define PCC_RETURN_IF_ERROR(...)                                               \
  do {                                                                         \
    if (::pcc::Status status_ = (__VA_ARGS__); status_.failed())               \
      return status_;                                                          \
  } while (false)

} // namespace pcc

#endif // PCC_STATUS_STATUS_H
