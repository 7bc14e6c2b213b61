//===- LauncherOutcome.h - from a launcher's end to the user's exit code --===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H

#include "runtime/base/Status.h"
#include "runtime/launch/report/LauncherOutput.h"

#include <deque>
#include <optional>
#include <string>

namespace pcc::runtime {

/// All that is known when the launcher has ended.
struct LauncherOutcome {
  std::string launcher = "mpirun";
  int waitStatus = 0;   ///< as from waitpid
  bool started = false; ///< whether any rank came to life
  std::optional<int> firstEnded = {};
  bool allLeft = false;  ///< every rank has done all that it had to
  int interruptedBy = 0; ///< the signal that made us end the job
  int askedBy = 0;       ///< the signal that we asked the ranks to stop for
  std::optional<Status> reported = {};
  std::deque<std::string> noise = {};
};

/// A rank that was lost and has not said why, as far as can be told.
std::optional<LostRank> lostRank(const LauncherOutcome &outcome);

/// The one error that the user sees. What a rank has reported counts most; then
/// a rank that was killed (14) or that ended without a word (its code, if it is
/// one of the interface's, else 1); then what kept the launcher from starting
/// (13). Ranks that were asked to stop, and did, have not failed.
Status translateOutcome(const LauncherOutcome &outcome);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
