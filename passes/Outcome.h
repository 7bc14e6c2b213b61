//===- Outcome.h - how a command ends, and what hears of it ---------------===//

#ifndef PCC_PASSES_OUTCOME_H
#define PCC_PASSES_OUTCOME_H

#include "passes/Phase.h"
#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace pcc {

/// How a command ended: an exit code of the interface, and what to tell the
/// user.
struct Outcome {
  int exitCode = 0;
  /// One line that begins in lower case; empty if all went well.
  std::string error;
  std::vector<std::string> notes;

  bool ok() const { return exitCode == 0; }
};

Outcome outcomeOf(const runtime::Status &status);

/// The exit code of a command that was given up; no command of the tool ends
/// with it.
inline constexpr int givenUpCode = 130;

/// Told, and asked, while a command runs.
struct Listener {
  std::function<void(Phase)> onPhase = [](Phase) {};
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
  /// Whether to end instead of beginning the next phase.
  std::function<bool()> isGivenUp = [] { return false; };
};

} // namespace pcc

#endif // PCC_PASSES_OUTCOME_H
