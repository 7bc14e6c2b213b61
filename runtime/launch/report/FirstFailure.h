//===- FirstFailure.h - one error message for a job of many ranks ---------===//
//
// When a run fails, all ranks fail, but the user wants one message. The ranks
// of a host share a folder:
//
//   started by              the folder is
//   `pcc run`               PCC_STATUS_DIR
//   BUNDLE/run, on GPUs     PCC_SESSION_DIR
//   mpirun                  the session folder of Open MPI
//
// The rank that first links its report there speaks for the job (link(2) is
// atomic):
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

/// Environment variable with the path of the status folder that `pcc run`
/// creates, in which a rank that fails leaves its error. `pcc run` then prints
/// that error.
inline constexpr const char *kStatusFolderVariable = "PCC_STATUS_DIR";
/// Environment variable with the path of the folder that BUNDLE/run creates for
/// the ranks that it starts. The ranks share it to report errors.
inline constexpr const char *kSessionFolderVariable = "PCC_SESSION_DIR";
/// Environment variable that `pcc run` sets if it displays progress: rank 0
/// then writes progress lines to stderr (see progressLine()).
inline constexpr const char *kProgressVariable = "PCC_PROGRESS";

/// Reports to the user that this rank fails with `status`, unless another rank
/// has reported an error already. Returns the exit code of `status`. Without a
/// shared folder, every rank reports its error, except that an error that all
/// ranks have in common (`onAllRanks`) is reported by rank 0 only. If this rank
/// prints the error, it first calls `beforePrinting`, which may add notes.
int reportFailure(const Status &status, const Environment &environment,
                  int rank, bool onAllRanks,
                  const std::function<void(Status &)> &beforePrinting = {});

/// Returns the path of the folder that the ranks of this host share, as the
/// environment variables name it; empty if there is none.
std::string sharedFolder(const Environment &environment);

/// Returns the error and its notes as lines for stderr, such as "pcc: error:
/// …".
std::string formatFailure(const Status &status);

/// Writes the error `status` of this rank into `folder`. Returns false, and
/// writes nothing, if another rank's error is there already. Returns true
/// otherwise, even if the write failed.
bool leaveReport(const std::string &folder, int rank, const Status &status);
/// Returns the error that the first failing rank wrote into `folder`;
/// std::nullopt if there is none.
std::optional<Status> readReport(const std::string &folder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H
