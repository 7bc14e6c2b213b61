//===- Listener.h - callbacks of a command while it runs ------------------===//

#ifndef PCC_PASSES_LISTENER_H
#define PCC_PASSES_LISTENER_H

#include "passes/Phase.h"
#include "status/Status.h"

#include <functional>
#include <string>

namespace pcc {

/// Exit code of a command that ends because Listener::isGivenUp returned true.
inline constexpr ExitCode givenUpCode{130};

/// Callbacks that a command, such as compile(), calls while it runs. They run
/// on the thread that called the command. The default callbacks do nothing.
struct Listener {
  /// Called when a phase begins.
  std::function<void(Phase)> onPhase = [](Phase) {};
  /// Called with each note for the user.
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
  /// Called once at the end, with a text that names the written file or bundle,
  /// describes it, and ends in the command that a user most likely wants next.
  /// The text has several lines.
  std::function<void(const std::string &)> onResult = [](const std::string &) {
  };
  /// Returns whether the command shall end before the next phase, with the exit
  /// code `givenUpCode`. Called before each phase.
  std::function<bool()> isGivenUp = [] { return false; };
};

} // namespace pcc

#endif // PCC_PASSES_LISTENER_H
