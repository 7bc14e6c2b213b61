//===- ChildProcess.cpp - child process with captured stderr --------------===//

#include "runtime/launch/spawn/ChildProcess.h"
#include "runtime/base/InheritedState.h"
#include "runtime/launch/job/RankIdentity.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
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
  for (int fd : {pidFd, stderrFd, signalFd})
    if (fd >= 0)
      close(fd);
  const sigset_t handled = endingSignals();
  pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
}

/// Runs in the forked child. setenv and allocation are safe after the fork only
/// because this process has one thread.
void ChildProcess::become(const std::vector<std::string> &command,
                          const Variables &environment, int parentsEnd) {
  const sigset_t handled = endingSignals();
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(parentsEnd, STDERR_FILENO);
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

/// Calls setpgid() in both the parent and the child, so that the process group
/// exists whichever of the two runs first.
Status ChildProcess::start(const std::vector<std::string> &command,
                           const Variables &environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status::error(NoDevice, std::string("cannot make a pipe: ") +
                                       std::strerror(errno));
  pid = fork();
  if (pid == 0)
    become(command, environment, ends[1]);
  const int forkError = errno;
  close(ends[1]);
  stderrFd = ends[0];
  fcntl(stderrFd, F_SETFL, O_NONBLOCK);
  if (pid < 0)
    return Status::error(NoDevice, "cannot start " + command[0] + ": " +
                                       std::strerror(forkError));
  setpgid(pid, pid);
  pidFd = int(syscall(SYS_pidfd_open, pid, 0));
  return Status::success();
}

void ChildProcess::handleSignal(const Watched &also) {
  signalfd_siginfo information;
  if (read(signalFd, &information, sizeof information) !=
      ssize_t(sizeof information))
    return;
  if (firstSignal == 0) {
    firstSignal = int(information.ssi_signo);
    wasTaken = also.onSignal && also.onSignal();
    if (!wasTaken)
      kill(pid, SIGTERM);
  } else {
    wasTaken = false;
    kill(-pid, SIGKILL);
  }
}

/// Reads until the pipe is empty. The pipe is non-blocking; EAGAIN means that
/// no more output is available.
bool ChildProcess::readStderr(
    const std::function<void(std::string_view)> &onStderr) {
  char buffer[16384];
  for (;;) {
    const ssize_t size = read(stderrFd, buffer, sizeof buffer);
    if (size > 0)
      onStderr({buffer, size_t(size)});
    else
      return size < 0 && (errno == EAGAIN || errno == EINTR);
  }
}

/// Polls four files together: the child's stderr, the signals, the caller's
/// file and the child's pidfd.
int ChildProcess::wait(const std::function<void(std::string_view)> &onStderr,
                       const Watched &also) {
  int status = 0;
  bool open = true;
  // If the kernel lacks pidfds, poll() returns after at most 0.1 s, so that the
  // loop checks whether the child has ended.
  const int timeout = pidFd >= 0 ? -1 : 100;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    pollfd watched[] = {{open ? stderrFd : -1, POLLIN, 0},
                        {signalFd, POLLIN, 0},
                        {also.fd, POLLIN, 0},
                        {pidFd, POLLIN, 0}};
    poll(watched, 4, timeout);
    if (watched[0].revents)
      open = readStderr(onStderr);
    if (watched[1].revents)
      handleSignal(also);
    if (watched[2].revents)
      also.onReadable();
  }
  also.onReadable();
  // Read the output that is available, but do not wait for the end of the
  // stream: descendants of the child may keep the pipe open forever.
  if (open)
    readStderr(onStderr);
  return status;
}

} // namespace pcc::runtime
