//===- Outcome.h - result of a command, and callbacks while it runs -------===//

#ifndef PCC_PASSES_OUTCOME_H
#define PCC_PASSES_OUTCOME_H

#include "passes/Phase.h"
#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace pcc {

/// Result of a command: success, or an error with an exit code of the command
/// line interface (runtime::ExitCode).
struct Outcome {
  /// Exit code; 0 means success.
  int exitCode = 0;
  /// Message of one line that begins in lower case; empty on success.
  std::string error;
  /// Causes and remedies, one line each.
  std::vector<std::string> notes;

  /// Returns whether the command succeeded.
  bool ok() const { return exitCode == 0; }
};

/// Converts a status of the runtime, with its exit code, message and notes.
Outcome outcomeOf(const runtime::Status &status);

/// Exit code of a command that Listener::isGivenUp has ended. Only bindings
/// provide this callback, so no command of the tool ends with the code.
inline constexpr int givenUpCode = 130;

/// Callbacks that a command calls while it runs, on the thread of the command.
/// By default they do nothing.
struct Listener {
  /// Called when a phase begins.
  std::function<void(Phase)> onPhase = [](Phase) {};
  /// Called with each note for the user.
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
  /// Returns whether the command shall end before the next phase, with exit
  /// code `givenUpCode`.
  std::function<bool()> isGivenUp = [] { return false; };
};

} // namespace pcc

#endif // PCC_PASSES_OUTCOME_H
