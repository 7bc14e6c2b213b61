//===- CrashCleanup.h - removes a job's folders after SIGKILL -------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
#define PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace pcc::runtime {

/// A helper process that deletes folders if this process ends without running
/// destructors, even by SIGKILL. The constructor forks, so this process must
/// have only one thread at that time.
///
/// This process and its children hold the write end of a pipe. The helper
/// deletes the folders when the pipe closes.
class CrashCleanup {
public:
  /// Starts the helper process, which deletes `folders` after a crash. If the
  /// helper cannot be started, no error is returned.
  explicit CrashCleanup(const std::vector<std::string> &folders);
  CrashCleanup(const CrashCleanup &) = delete;
  CrashCleanup &operator=(const CrashCleanup &) = delete;
  ~CrashCleanup();

private:
  /// Id of the helper process that deletes the folders; -1 if it was not
  /// started.
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
