//===- ChildProcess.h - child process with captured output ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H

#include "status/Status.h"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// Names and values of environment variables to add to a child's environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Functions that ChildProcess::wait() calls while it waits for the end of the
/// child process. The caller of wait() passes these functions. `onStderr`,
/// `onStdout` and `onReadable` must be set. `takesStdout`, `onSignal` and
/// `isOver` may be empty. The member `fd` is not a function, but a file
/// descriptor that wait() also watches.
struct ChildEvents {
  /// Functions that receive the output of the child process, and of all
  /// processes that the child has started. ChildProcess::wait() passes text
  /// from stderr to `onStderr`, and text from stdout to `onStdout`. Each call
  /// passes 1 to 16,384 bytes. A line of text may be split between two calls.
  /// Both functions must be set.
  std::function<void(std::string_view)> onStderr, onStdout;
  /// Returns whether ChildProcess::wait() may read from the stdout of the child
  /// at this time. wait() calls this function repeatedly while the child runs.
  /// If the result is false, wait() leaves the child's output in the pipe. A
  /// child that writes to a full pipe blocks. If this function is empty, wait()
  /// always reads.
  std::function<bool()> takesStdout = {};
  /// File descriptor `fd` of the caller, and the function `onReadable`.
  /// ChildProcess::wait() calls `onReadable` whenever `fd` is readable. wait()
  /// also calls `onReadable` once after the child has ended. If `fd` is -1,
  /// wait() makes only this last call. `onReadable` must not be empty.
  int fd = -1;
  std::function<void()> onReadable = {};
  /// ChildProcess::wait() calls this function when this process receives
  /// SIGINT, SIGTERM or SIGHUP for the first time, with the number of the
  /// signal. The function returns whether it has handled the signal. If it has
  /// not handled the signal, or if the function is empty, wait() sends SIGTERM
  /// to the child.
  std::function<bool(int)> onSignal = {};
  /// Returns whether the child must be killed. ChildProcess::wait() calls this
  /// function at least ten times per second until the child has ended. If the
  /// result is true, wait() sends SIGKILL to the child and to all other
  /// processes of its process group. The child has started these processes. If
  /// this function is empty, wait() does not kill the child for this reason.
  std::function<bool()> isOver = {};
};

/// A child process of this process. The child is the first process of a new
/// process group. A process that the child starts joins this group, unless the
/// process creates a group of its own. The kernel sends SIGTERM to the child
/// when this process ends.
///
/// While a ChildProcess object exists, SIGINT, SIGTERM and SIGHUP do not end
/// this process. Instead, wait() reads the signals that this process receives:
///
/// - At the first signal, wait() calls ChildEvents::onSignal. If onSignal is
///   empty or returns false, wait() sends SIGTERM to the child.
/// - At the second signal, wait() kills all processes of the process group.
class ChildProcess {
public:
  /// Blocks SIGINT, SIGTERM and SIGHUP, and opens a signalfd that reads them.
  /// The process must have no other threads that could receive these signals.
  ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;
  /// Unblocks SIGINT, SIGTERM and SIGHUP, which the constructor has blocked.
  /// Does not wait for the end of the child process.
  ~ChildProcess();

  /// Starts a child process that executes `command`: the path of the
  /// executable, then its arguments. The child inherits the environment
  /// variables of this process except those of launcherVariables(), such as
  /// OMPI_COMM_WORLD_RANK. The variables in `environment` are added. The
  /// child's stdin is /dev/null. If `hasPrivateNetwork` is true, the child gets
  /// a network namespace with only a loopback interface. If the kernel forbids
  /// this, the child uses the network of this process. Returns an error with
  /// exit code 13 if no process or no pipe can be created.
  Status start(const std::vector<std::string> &command,
               const Variables &environment, bool hasPrivateNetwork);

  /// Blocks until the child has ended, and calls the functions of `events`
  /// meanwhile. Returns the child's status as waitpid() returns it.
  int wait(const ChildEvents &events);

  /// Passes `signal` to the child.
  void send(int signal) const;

  /// Returns the number of the first signal (SIGINT, SIGTERM or SIGHUP) that
  /// wait() received, in two cases:
  ///
  /// - ChildEvents::onSignal did not handle the signal. wait() then sent
  ///   SIGTERM to the child.
  /// - wait() received a second signal, and killed the child.
  ///
  /// Otherwise returns 0.
  int interruptedBy() const { return wasTaken ? 0 : firstSignal; }
  /// Returns the number of the signal (SIGINT, SIGTERM or SIGHUP) that
  /// ChildEvents::onSignal handled. Returns 0 in three cases:
  ///
  /// - wait() received no signal.
  /// - wait() received a signal, but onSignal did not handle it.
  /// - wait() received a second signal, and killed the child.
  int takenSignal() const { return wasTaken ? firstSignal : 0; }

private:
  /// Executes `command` in the child process that fork() has just created. Does
  /// not return. The first entry of `command` is the path of the executable.
  ///
  /// `environment` contains the variables that are added to the environment of
  /// the child. `ends` contains the write ends of two pipes: ends[0] becomes
  /// the stdout of the child, and ends[1] becomes the stderr of the child.
  [[noreturn]] void become(const std::vector<std::string> &command,
                           const Variables &environment,
                           const std::array<int, 2> &ends);
  /// Reads one pending signal (SIGINT, SIGTERM or SIGHUP) from `signalFd`. Does
  /// nothing if no signal is pending.
  ///
  /// - At the first signal, calls events.onSignal. If onSignal is empty or
  ///   returns false, sends SIGTERM to the child.
  /// - At each later signal, kills all processes of the child's process group.
  void handleSignal(const ChildEvents &events);
  /// Reads all available bytes of `pipe` and passes them to `takes`. Closes
  /// `pipe` at the end of the stream, and sets it to -1.
  static void readPipe(int &pipe,
                       const std::function<void(std::string_view)> &takes);

  pid_t pid = -1;
  /// File descriptor (pidfd) that is readable once the child has ended; -1 if
  /// the kernel lacks pidfds.
  int pidFd = -1;
  /// Read ends of the child's stdout and stderr pipes; -1 after the end of the
  /// stream.
  int stdoutFd = -1, stderrFd = -1;
  /// File descriptor (signalfd) from which pending signals are read.
  int signalFd = -1;
  /// Number of the first signal that this process received; 0 if none.
  int firstSignal = 0;
  /// Whether wait() received exactly one signal (SIGINT, SIGTERM or SIGHUP),
  /// and ChildEvents::onSignal handled this signal.
  bool wasTaken = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_CHILDPROCESS_H
