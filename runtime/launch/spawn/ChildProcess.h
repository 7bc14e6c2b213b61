//===- ChildProcess.h - a process whose stderr is watched -----------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H

#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pcc::runtime {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A child in a process group of its own, which ends when this process does.
/// While it lives, SIGINT, SIGTERM and SIGHUP to this process go to the child,
/// as SIGTERM, unless somebody else takes the first; from the second on, the
/// whole group is killed.
class ChildProcess {
public:
  ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  ~ChildProcess();

  /// `command[0]` is a path. stdin is empty, stdout is this process's.
  Status start(const std::vector<std::string> &command,
               const Variables &environment);

  /// What else to attend to while waiting.
  struct Watched {
    int fd;
    std::function<void()> onReadable;
    /// Takes the first signal; false: it is the child's.
    std::function<bool()> onSignal = {};
  };

  /// Hands on what the child and its heirs write to stderr until it has ended.
  /// Returns the status of waitpid.
  int wait(const std::function<void(std::string_view)> &onStderr,
           const Watched &also);

  /// The first signal that went to the child, or 0.
  int interruptedBy() const { return wasTaken ? 0 : firstSignal; }
  /// The first signal if somebody else has taken it, or 0.
  int takenSignal() const { return wasTaken ? firstSignal : 0; }

private:
  [[noreturn]] void become(const std::vector<std::string> &command,
                           const Variables &environment, int parentsEnd);
  void handleSignal(const Watched &also);
  bool readStderr(const std::function<void(std::string_view)> &onStderr);

  pid_t pid = -1;
  int pidFd = -1;
  int stderrFd = -1;
  int signalFd = -1;
  int firstSignal = 0;
  bool wasTaken = false; ///< by Watched::onSignal
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
