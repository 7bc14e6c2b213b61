//===- CrashCleanup.h - removes what a killed process would leave ---------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
#define PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace pcc::runtime {

/// A process that removes folders when this one, and the children that it
/// starts, have ended without destroying this: not even SIGKILL leaves them
/// behind. To be made before other threads are.
class CrashCleanup {
public:
  explicit CrashCleanup(const std::vector<std::string> &folders);
  CrashCleanup(const CrashCleanup &) = delete;
  CrashCleanup &operator=(const CrashCleanup &) = delete;
  ~CrashCleanup();

private:
  pid_t cleaner = -1;
  int lifeline = -1; ///< heirs have it, too: it closes when all have ended
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_CRASHCLEANUP_H
