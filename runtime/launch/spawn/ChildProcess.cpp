//===- ChildProcess.cpp - child process with captured output --------------===//

#include "runtime/launch/spawn/ChildProcess.h"

#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"
#include "runtime/launch/job/RankIdentity.h"
#include "runtime/launch/spawn/PrivateNetwork.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pcc::runtime {

ChildProcess::ChildProcess() {
  const sigset_t handled = endingSignals();
  pthread_sigmask(SIG_BLOCK, &handled, nullptr);
  signalFd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  for (int fd : {pidFd, stdoutFd, stderrFd, signalFd})
    if (fd >= 0)
      close(fd);
  const sigset_t handled = endingSignals();
  pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
}

/// Runs in the child process after fork(). The code allocates memory, which is
/// safe only because the parent process has a single thread. If the parent had
/// several threads, one of them could hold the lock of malloc() during fork().
/// The child would then wait for this lock forever.
void ChildProcess::become(const std::vector<std::string> &command,
                          const Variables &environment,
                          const std::array<int, 2> &ends) {
  const sigset_t handled = endingSignals();
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(ends[0], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  for (const std::string &name : launcherVariables(currentEnvironment()))
    unsetenv(name.c_str());
  for (const auto &[name, value] : environment)
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

/// Calls setpgid() in the parent process. become() calls setpgid() in the child
/// process too. setpgid() moves the child into a new process group. The child
/// must be in the new group before two events:
///
/// - The child executes `command`. Processes that the command starts then join
///   the new group.
/// - The parent calls kill(-pid), which kills all processes of the new group.
///
/// After fork(), the parent or the child may run first. Therefore both call
/// setpgid(). The later of the two calls changes nothing.
Status ChildProcess::start(const std::vector<std::string> &command,
                           const Variables &environment,
                           bool hasPrivateNetwork) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    const int error = errno;
    for (int fd : out)
      if (fd >= 0)
        close(fd);
    return Status::error(NoDevice, std::string("cannot make a pipe: ") +
                                       std::strerror(error));
  }
  pid = fork();
  if (pid == 0) {
    if (hasPrivateNetwork)
      enterPrivateNetwork();
    become(command, environment, {out[1], err[1]});
  }
  const int forkError = errno;
  close(out[1]);
  close(err[1]);
  stdoutFd = out[0];
  stderrFd = err[0];
  fcntl(stdoutFd, F_SETFL, O_NONBLOCK);
  fcntl(stderrFd, F_SETFL, O_NONBLOCK);
  if (pid < 0)
    return cannotStart("cannot start " + command[0], forkError);
  setpgid(pid, pid);
  pidFd = int(syscall(SYS_pidfd_open, pid, 0));
  return Status::success();
}

void ChildProcess::send(int signal) const { kill(pid, signal); }

void ChildProcess::handleSignal(const ChildEvents &events) {
  signalfd_siginfo information;
  if (read(signalFd, &information, sizeof information) !=
      ssize_t(sizeof information))
    return;
  if (firstSignal == 0) {
    firstSignal = int(information.ssi_signo);
    wasTaken = events.onSignal && events.onSignal(firstSignal);
    if (!wasTaken)
      send(SIGTERM);
  } else {
    wasTaken = false;
    kill(-pid, SIGKILL);
  }
}

/// Reads the text that the child has written to `pipe`, and passes the text to
/// `takes`, at most 16 KiB per call. `pipe` is the read end of a pipe, which is
/// the stdout or the stderr of the child. Does not block: when the pipe
/// contains no more text, read() fails with the error EAGAIN, and this function
/// returns. If all writers have closed the pipe, closes `pipe` and sets it to
/// -1. Does nothing if `pipe` is -1.
void ChildProcess::readPipe(
    int &pipe, const std::function<void(std::string_view)> &takes) {
  char buffer[16384];
  ssize_t size = 0;
  if (pipe < 0)
    return;
  while ((size = read(pipe, buffer, sizeof buffer)) > 0)
    takes({buffer, size_t(size)});
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  close(pipe);
  pipe = -1;
}

/// Waits in a single poll() for five events: output on the child's stderr,
/// output on the child's stdout, a signal to this process, input on
/// ChildEvents::fd, and the end of the child.
///
/// After the child has ended, reads the bytes that the two pipes contain at
/// that time. Does not wait until the pipes are closed: a process that the
/// child has started may still run, and keep the pipes open.
int ChildProcess::wait(const ChildEvents &events) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const bool reads = !events.takesStdout || events.takesStdout();
    pollfd watched[] = {{stderrFd, POLLIN, 0},
                        {reads ? stdoutFd : -1, POLLIN, 0},
                        {signalFd, POLLIN, 0},
                        {events.fd, POLLIN, 0},
                        {pidFd, POLLIN, 0}};
    // `pidFd` is a file descriptor that wakes poll() when the child ends. If
    // the kernel does not support such descriptors, `pidFd` is -1, and poll()
    // ignores it. poll() then returns after at most 100 ms, and the next call
    // of waitpid() detects whether the child has ended.
    poll(watched, std::size(watched), /*milliseconds=*/100);
    if (watched[0].revents)
      readPipe(stderrFd, events.onStderr);
    if (watched[1].revents)
      readPipe(stdoutFd, events.onStdout);
    if (watched[2].revents)
      handleSignal(events);
    if (watched[3].revents)
      events.onReadable();
    if (events.isOver && events.isOver())
      kill(-pid, SIGKILL);
  }
  events.onReadable();
  readPipe(stderrFd, events.onStderr);
  readPipe(stdoutFd, events.onStdout);
  return status;
}

} // namespace pcc::runtime
