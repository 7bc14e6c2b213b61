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

/// Returns the file name of a rank's executable in a bundle (directory that pcc
/// writes). The number has at least three digits, such as "rank-000".
std::string rankFileName(int rank);

/// Returns the number of rank executables in the bundle directory `bundle`:
/// rank-000, rank-001, … up to the first number that is missing. Returns 0 if
/// the directory has none.
int countRanks(const std::string &bundle);

/// Returns whether the programs in directory `bundle` (output of pcc) were
/// compiled for GPUs. Returns false if bundle.json is damaged; checkBundle()
/// reports the damage.
bool isForGpus(const std::string &bundle);

/// Checks that directory `bundle` (output of pcc) is complete; exit code 11 if
/// not. In a complete bundle
///
/// - the seals (checksums) of bundle.json and `run` are right;
/// - there are as many rank executables as bundle.json records.
Status checkBundle(const std::string &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
