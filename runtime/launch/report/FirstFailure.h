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
// Each rank that fails writes its own file, and tries to link it to the name
// `report` by link(2), which is atomic. Only the first rank succeeds, and only
// its error is printed. An example:
//
//   rank 2: report.2 ── link ──> report        prints, or `pcc run` does
//   rank 0: report.0 ── link ──> exists        prints nothing
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H
#define PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H

#include "runtime/launch/job/JobVariables.h"
#include "runtime/launch/job/RankIdentity.h"

#include <functional>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Reports the error `status` of rank `rank`, and returns the exit code of
/// `status`. The user should see only one error:
///
/// - The ranks of this host share a folder (sharedFolder): only the first rank
///   that fails writes its error into the folder. If `pcc run` started the
///   ranks, `pcc run` prints this error. Otherwise, the rank prints the error
///   itself.
/// - The ranks share no folder: each rank that fails prints its error. If
///   `onAllRanks` is true, all ranks have the error, and only rank 0 prints it.
///
/// `beforePrinting` may add notes to the error. If this function is not empty,
/// it is called before this process prints the error.
int reportFailure(const Status &status, const Environment &environment,
                  int rank, bool onAllRanks,
                  const std::function<void(Status &)> &beforePrinting = {});

/// Returns the path of a folder that the ranks of this host share. The first
/// rank that fails writes its error into this folder. `environment` contains
/// the environment variables of this process. The first of these variables that
/// is set contains the path:
///
///   PCC_STATUS_DIR       `pcc run` sets it
///   PCC_SESSION_DIR      BUNDLE/run sets it if it starts several ranks itself
///   PMIX_SERVER_TMPDIR   mpirun (Open MPI) sets it
///
/// Returns an empty string if the ranks share no folder: all three variables
/// are unset or empty.
std::string sharedFolder(const Environment &environment);

/// Returns the error and its notes as lines for stderr, such as "pcc: error:
/// …".
std::string formatFailure(const Status &status);

/// Writes the error `status` of rank `rank` into `folder`, unless another rank
/// has already written an error into `folder`. The ranks of this host share
/// `folder`.
///
/// - Returns true if the error of this rank is the first one, or if the error
///   cannot be written, for example because the disk is full. The caller must
///   then ensure that the user sees the error.
/// - Returns false if another rank has already written an error. The user
///   should see that error only.
bool leaveReport(const std::string &folder, int rank, const Status &status);
/// Reads the error of a run from `folder`. The ranks of this host share
/// `folder`, and the first rank that fails writes its error into `folder`.
/// Returns std::nullopt if no rank has written an error, or if the error cannot
/// be read.
std::optional<Status> readReport(const std::string &folder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FIRSTFAILURE_H
