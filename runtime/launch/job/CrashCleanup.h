//===- CrashCleanup.h - removes a job's folders after SIGKILL -------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
#define PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace pcc::runtime {

/// A helper process that deletes folders if this process ends without running
/// its destructors, even by SIGKILL. The constructor forks, so this process
/// must have only one thread at that time.
///
/// The helper waits until a pipe closes. This process and its children hold the
/// write end, so the pipe closes when the last of them has ended. The
/// destructor ends the helper without deleting anything.
class CrashCleanup {
public:
  /// Starts the helper process, which deletes `folders` after a crash. If the
  /// helper cannot be started, no error is returned, and the folders stay after
  /// a crash.
  explicit CrashCleanup(const std::vector<std::string> &folders);
  CrashCleanup(const CrashCleanup &) = delete;
  CrashCleanup &operator=(const CrashCleanup &) = delete;
  ~CrashCleanup();

private:
  /// Process id of the helper; -1 if there is none.
  pid_t cleaner = -1;
  /// Write end of the pipe on which the helper waits. Child processes inherit
  /// it.
  int lifeline = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
