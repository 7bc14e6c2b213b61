//===- BundleFiles.h - names and number of a bundle's rank files ----------===//
//
// A bundle is the directory that pcc writes. The bundle holds one executable
// per rank (rank-000, rank-001, …), the launcher `run`, and bundle.json.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
#define PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H

#include "runtime/base/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the file name of a rank's executable, with at least three digits:
/// "rank-000".
std::string rankFileName(int rank);

/// Returns the number of rank executables in directory `bundle`, numbered from
/// 0 without a gap; 0 if the directory is no bundle.
int countRanks(const std::string &bundle);

/// Returns whether the bundle was compiled for GPUs, as bundle.json says.
bool isForGpus(const std::string &bundle);

/// Checks that the bundle has as many rank executables as bundle.json says
/// (exit code 11 if fewer). A bundle without them, or without that number,
/// passes.
Status checkComplete(const std::string &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
