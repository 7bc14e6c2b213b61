//===- CrashCleanup.h - removes a job's folders after SIGKILL -------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
#define PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace pcc::runtime {

/// Deletes folders after a crash of the process that creates this object. A
/// crash is an end without a call of destructors, such as by SIGKILL. The
/// constructor starts a helper process by fork(), so the process must have only
/// one thread at that time. The process and its child processes hold the write
/// end of a pipe. When all of them have ended, the helper reads the end of file
/// and deletes the folders.
///
/// The destructor kills the helper. Other code must then delete the folders.
class CrashCleanup {
public:
  /// Starts the helper process. If this process crashes, the helper process
  /// deletes `folders`, a list of paths. If the helper process cannot be
  /// started, the constructor reports no error. In this case, `folders` stay on
  /// the disk after a crash.
  explicit CrashCleanup(const std::vector<std::string> &folders);
  CrashCleanup(const CrashCleanup &) = delete;
  CrashCleanup &operator=(const CrashCleanup &) = delete;
  ~CrashCleanup();

private:
  /// Process id of the helper process. After a crash of this process, the
  /// helper process deletes the folders that the constructor received.
  /// `cleaner` is -1 if the helper process could not be started.
  pid_t cleaner = -1;
  /// Write end of a pipe; -1 if the pipe could not be created. Child processes
  /// of this process inherit the write end. A helper process waits at the read
  /// end until no process holds the write end. At that time, this process and
  /// all of its child processes have ended. The helper process then deletes the
  /// folders that the constructor of CrashCleanup received.
  int lifeline = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
