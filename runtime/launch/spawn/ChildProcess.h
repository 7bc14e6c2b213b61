//===- ChildProcess.h - child process with captured stderr ----------------===//

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

/// Environment variables to add: name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A child process in its own process group, which ends when this process ends.
/// From the constructor to the destructor, SIGINT, SIGTERM and SIGHUP to this
/// process are handled by wait(): the first is passed to the child as SIGTERM,
/// unless Watched::onSignal takes it; a second one kills the whole group.
class ChildProcess {
public:
  /// Blocks the signals and opens a signalfd for them. The process must have no
  /// other threads that could receive them.
  ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  /// Unblocks the signals. Does not wait for the child.
  ~ChildProcess();

  /// Starts `command` with additional environment variables. `command[0]` is a
  /// path. stdin is empty, and stdout is that of this process. Exit code 13 if
  /// no process can be created.
  Status start(const std::vector<std::string> &command,
               const Variables &environment);

  /// Another file that wait() polls.
  struct Watched {
    /// The file. Borrowed.
    int fd;
    /// Called when `fd` is readable, and once after the child has ended.
    std::function<void()> onReadable;
    /// Called for the first signal. Returns true if it has handled the signal,
    /// so that the child does not get it. May be empty.
    std::function<bool()> onSignal = {};
  };

  /// Blocks until the child has ended, and passes stderr of the child and its
  /// descendants to `onStderr` in pieces. Returns the status of waitpid().
  int wait(const std::function<void(std::string_view)> &onStderr,
           const Watched &also);

  /// Returns the first signal, if it was passed to the child or followed by a
  /// second one; 0 otherwise.
  int interruptedBy() const { return wasTaken ? 0 : firstSignal; }
  /// Returns the first signal, if Watched::onSignal handled it; 0 otherwise.
  int takenSignal() const { return wasTaken ? firstSignal : 0; }

private:
  /// Turns the forked process into the command. `parentsEnd` is the pipe for
  /// stderr.
  [[noreturn]] void become(const std::vector<std::string> &command,
                           const Variables &environment, int parentsEnd);
  /// Reads one signal, and passes it on as the class comment says.
  void handleSignal(const Watched &also);
  /// Reads all available output. Returns false at the end of the stream.
  bool readStderr(const std::function<void(std::string_view)> &onStderr);

  pid_t pid = -1;
  /// File that is readable once the child has ended; -1 if the kernel lacks
  /// pidfds.
  int pidFd = -1;
  /// Read end of the pipe for stderr.
  int stderrFd = -1;
  /// File from which pending signals are read.
  int signalFd = -1;
  /// The first signal received; 0 if none.
  int firstSignal = 0;
  /// Whether Watched::onSignal handled the first signal, and no second one
  /// followed.
  bool wasTaken = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
