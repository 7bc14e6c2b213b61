//===- Outcome.h - result of a command, and callbacks while it runs -------===//

#ifndef PCC_PASSES_OUTCOME_H
#define PCC_PASSES_OUTCOME_H

#include "passes/Phase.h"
#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace pcc {

/// Result of a command: success, or an error with one of the exit codes of
/// runtime::ExitCode.
struct Outcome {
  /// Exit code of pcc; 0 means success.
  int exitCode = 0;
  /// Error message of one line that begins in lower case; empty on success.
  std::string error;
  /// Causes of the error and remedies, one line each.
  std::vector<std::string> notes;

  /// Returns whether the command succeeded.
  bool ok() const { return exitCode == 0; }
};

/// Converts a Status of the runtime to an Outcome with the same exit code,
/// message and notes.
Outcome outcomeOf(const runtime::Status &status);

/// Exit code of a command that ends because Listener::isGivenUp returned true.
/// Only language bindings set this callback, so the command line tool never
/// ends with this code.
inline constexpr int givenUpCode = 130;

/// Callbacks that a command calls while it runs, on its own thread. By default
/// they do nothing.
struct Listener {
  /// Called when a phase begins.
  std::function<void(Phase)> onPhase = [](Phase) {};
  /// Called with each note for the user.
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
  /// Returns whether the command shall end before the next phase, with the exit
  /// code `givenUpCode`. Called before each phase.
  std::function<bool()> isGivenUp = [] { return false; };
};

} // namespace pcc

#endif // PCC_PASSES_OUTCOME_H
