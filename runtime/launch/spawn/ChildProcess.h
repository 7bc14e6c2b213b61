//===- ChildProcess.h - child process with captured stderr ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H

#include "status/Status.h"

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// Names and values of environment variables to add to a child's environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A child process in its own process group. The child ends when this process
/// ends. While this object exists, SIGINT, SIGTERM and SIGHUP to this process
/// are blocked unless they are ignored (endingSignals()). wait() handles these
/// signals:
///
/// - The first signal is given to Watched::onSignal. If onSignal does not
///   handle it, the child gets SIGTERM.
/// - A second signal kills the whole process group.
class ChildProcess {
public:
  /// Blocks endingSignals() (SIGINT, SIGTERM, SIGHUP), and opens a signalfd
  /// that reads them. The process must have no other threads that could receive
  /// these signals.
  ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  /// Unblocks endingSignals() (SIGINT, SIGTERM, SIGHUP). Does not wait for the
  /// child.
  ~ChildProcess();

  /// Starts `command` with the additional environment variables `environment`.
  /// Removes variables by which a launcher has assigned a rank to this process.
  /// `command[0]` is a path. stdin is empty, and stdout is that of this
  /// process. Exit code 13 if no process can be created.
  Status start(const std::vector<std::string> &command,
               const Variables &environment);

  /// A file descriptor of the caller that wait() polls besides the child.
  struct Watched {
    /// The file descriptor to poll. Borrowed.
    int fd;
    /// Function that wait() calls when `fd` is readable, and once after the
    /// child has ended.
    std::function<void()> onReadable;
    /// Function that wait() calls for the first SIGINT, SIGTERM or SIGHUP. If
    /// it returns true, the signal is not passed to the child; otherwise the
    /// child gets SIGTERM. May be empty, which means false.
    std::function<bool()> onSignal = {};
  };

  /// Blocks until the child has ended. Passes the stderr of the child and its
  /// descendants to `onStderr` in pieces of any size. Returns the child's
  /// status as waitpid() returns it.
  int wait(const std::function<void(std::string_view)> &onStderr,
           const Watched &also);

  /// Returns the number of the first signal that this process received, such as
  /// SIGINT. Returns 0 if there was no signal, or if takenSignal() returns the
  /// signal.
  int interruptedBy() const { return wasTaken ? 0 : firstSignal; }
  /// Returns the number of the first signal if Watched::onSignal handled it and
  /// no second signal followed. Otherwise returns 0.
  int takenSignal() const { return wasTaken ? firstSignal : 0; }

private:
  /// Replaces the forked child process by `command`; does not return.
  /// `parentsEnd` is the write end of the pipe for stderr, opened by the
  /// parent.
  [[noreturn]] void become(const std::vector<std::string> &command,
                           const Variables &environment, int parentsEnd);
  /// Reads one pending signal. Passes the first signal to the child (unless
  /// Watched::onSignal handles it). Kills the process group at the second
  /// signal.
  void handleSignal(const Watched &also);
  /// Reads all available output of the child's stderr and passes it to
  /// `onStderr`. Returns false at the end of the stream.
  bool readStderr(const std::function<void(std::string_view)> &onStderr);

  pid_t pid = -1;
  /// File descriptor (pidfd) that is readable once the child has ended; -1 if
  /// the kernel lacks pidfds.
  int pidFd = -1;
  /// Read end of the pipe to which the child writes its stderr.
  int stderrFd = -1;
  /// File descriptor (signalfd) from which pending signals are read.
  int signalFd = -1;
  /// Number of the first signal that this process received; 0 if none.
  int firstSignal = 0;
  /// Whether Watched::onSignal handled the first signal, and no second one
  /// followed.
  bool wasTaken = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
