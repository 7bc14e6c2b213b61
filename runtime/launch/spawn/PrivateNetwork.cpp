//===- PrivateNetwork.cpp - network of a job's own on one host ------------===//

#include "runtime/launch/spawn/PrivateNetwork.h"

#include <cstring>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pcc::runtime {

static bool writeFile(const char *path, const std::string &text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool isWritten = file >= 0 && write(file, text.data(), text.size()) ==
                                          ssize_t(text.size());
  if (file >= 0)
    close(file);
  return isWritten;
}

/// Activates the loopback interface `lo` in the network namespace of this
/// process. In a new network namespace, this interface is inactive, so that
/// processes cannot connect to 127.0.0.1. Returns whether the activation has
/// succeeded.
static bool startLoopback() {
  const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool isUp = file >= 0 && ioctl(file, SIOCSIFFLAGS, &request) == 0;
  if (file >= 0)
    close(file);
  return isUp;
}

/// Moves this process to a new Linux network namespace, and activates the
/// loopback interface of the namespace. Returns whether both succeeded.
///
/// If the process lacks the privilege to create a network namespace
/// (CAP_SYS_ADMIN), the function also creates a user namespace. The process has
/// this privilege in the user namespace. The ids of its user and its group do
/// not change. For example, user 1000 is still user 1000 in the user namespace.
///
/// If root lacks the privilege, the function returns false. A user namespace
/// would give the privilege to root too, but root could then no longer access
/// the files of other users.
static bool enter() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNET) == 0)
    return startLoopback();
  const auto same = [](unsigned id) {
    return std::to_string(id) + " " + std::to_string(id) + " 1";
  };
  return user != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
         writeFile("/proc/self/setgroups", "deny") &&
         writeFile("/proc/self/uid_map", same(user)) &&
         writeFile("/proc/self/gid_map", same(group)) && startLoopback();
}

/// Calls enter() in a child process first. enter() moves a process to a new
/// network. If enter() succeeds in the child process, calls enter() in this
/// process too. A direct call is not safe: enter() may move the process and
/// then fail, for example because it cannot activate the loopback interface.
/// This process would then stay in a network in which it cannot connect to any
/// address.
void enterPrivateNetwork() {
  const pid_t child = fork();
  if (child == 0)
    _exit(enter() ? 0 : 1);
  int status = 1;
  if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
    (void)enter();
}

} // namespace pcc::runtime
