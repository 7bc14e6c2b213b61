//===- BundleFiles.h - names and number of a bundle's rank files ----------===//
//
// A bundle is the directory that pcc writes. The bundle holds one executable
// per rank (rank-000, rank-001, …), the launcher `run`, and bundle.json.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
#define PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the file name of a rank's executable in a bundle, with at least
/// three digits, such as "rank-000".
std::string rankFileName(int rank);

/// Returns the number of rank executables in directory `bundle`: rank-000,
/// rank-001, … up to the first number that is missing. 0 if the directory is no
/// bundle.
int countRanks(const std::string &bundle);

/// Returns whether the bundle's programs were compiled for GPUs, as its
/// bundle.json records.
bool isForGpus(const std::string &bundle);

/// Checks that `bundle` has as many rank executables as its bundle.json
/// records; exit code 11 if there are fewer. A bundle without any rank
/// executable, or whose bundle.json records no number, passes.
Status checkComplete(const std::string &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
