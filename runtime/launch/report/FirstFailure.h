//===- FirstFailure.h - one message for a job of many ranks ---------------===//
//
// When a run fails, all ranks fail, and the user wants one message. The ranks
// of a host share a folder: `pcc run` gives them one (PCC_STATUS_DIR), and so
// does BUNDLE/run to those that it starts (PCC_SESSION_DIR); otherwise it is
// Open MPI's session folder. Whoever first links its report there speaks for
// the job:
//
//   rank 2: report.2 ── link ──> report        prints, or `pcc run` does
//   rank 0: report.0 ── link ──> exists        stays silent
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H
#define PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H

#include "runtime/launch/job/RankIdentity.h"

#include <functional>
#include <optional>
#include <string>

namespace pcc::runtime {

inline constexpr const char *kStatusFolderVariable = "PCC_STATUS_DIR";
inline constexpr const char *kSessionFolderVariable = "PCC_SESSION_DIR";
/// Set by `pcc run` if someone watches: rank 0 writes progressLine()s.
inline constexpr const char *kProgressVariable = "PCC_PROGRESS";

/// Tells the user why this rank fails, unless another rank has said why the job
/// does, and returns the exit code. Where ranks share no folder, an error that
/// all ranks have in common (`onAllRanks`) is told by rank 0. The rank that
/// prints calls `beforePrinting` first.
int reportFailure(const Status &status, const Environment &environment,
                  int rank, bool onAllRanks,
                  const std::function<void(Status &)> &beforePrinting = {});

/// The folder that the ranks of a host share; empty if there is none.
std::string sharedFolder(const Environment &environment);

/// "pcc: error: …" and notes, for stderr.
std::string formatFailure(const Status &status);

/// Leaves a report in `folder`; false if there is one already.
bool leaveReport(const std::string &folder, int rank, const Status &status);
/// The report of the rank that came first.
std::optional<Status> readReport(const std::string &folder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H
