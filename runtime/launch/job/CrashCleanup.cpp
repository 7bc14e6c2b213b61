//===- CrashCleanup.cpp - removes a job's folders after SIGKILL -----------===//

#include "runtime/launch/job/CrashCleanup.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace pcc::runtime {

/// Makes the helper process independent of its parent process. The parent has
/// just forked the helper process, which must live longer than the parent.
/// `lifeline` is the read end of a pipe. Through the pipe, the helper process
/// learns that the parent has ended. The function does three things:
///
/// - Starts a new session and blocks all signals. Signals to the process group
///   of the parent, such as Ctrl-C, then do not end the helper process.
/// - Moves `lifeline` to file descriptor 3.
/// - Replaces stdin, stdout and stderr by /dev/null, and closes all file
///   descriptors above 3. Otherwise, a program that reads the stdout of the
///   parent would get no end of file while the helper process runs.
static void detach(int lifeline) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nothing, fd);
  dup2(lifeline, 3);
  closefrom(4);
}

/// Runs in the helper process. Waits until the parent process and all of its
/// child processes have ended. Then deletes `folders`, and ends the helper
/// process.
///
/// The parent and its child processes hold the write end of a pipe. File
/// descriptor 3 is the read end of this pipe. No process writes to the pipe, so
/// read() blocks as long as any process holds the write end. When the last of
/// these processes has ended, read() returns 0 (end of file).
[[noreturn]] static void clean(const std::vector<std::string> &folders) {
  char nothing;
  while (read(3, &nothing, 1) < 0 && errno == EINTR)
    ;
  std::error_code ignored;
  for (const std::string &folder : folders)
    std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

CrashCleanup::CrashCleanup(const std::vector<std::string> &folders) {
  int ends[2];
  if (pipe(ends) != 0)
    return;
  cleaner = fork();
  if (cleaner == 0) {
    detach(ends[0]);
    clean(folders);
  }
  close(ends[0]);
  lifeline = ends[1];
}

CrashCleanup::~CrashCleanup() {
  if (lifeline >= 0)
    close(lifeline);
  if (cleaner < 0)
    return;
  kill(cleaner, SIGKILL);
  waitpid(cleaner, nullptr, 0);
}

} // namespace pcc::runtime
