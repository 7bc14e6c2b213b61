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

/// Checks the bundle in the directory `bundle`. A bundle is the output of pcc.
/// It contains a description (bundle.json), one executable per rank (rank-000,
/// rank-001, …), and the executable `run`, which starts ranks. Returns an error
/// with exit code 11 unless both conditions hold:
///
/// - bundle.json and `run` are undamaged. Each of these two files ends with a
///   checksum of its content. The function compares the checksum with the
///   content.
/// - The number of rank executables is the number of ranks in bundle.json.
///
/// The function does not read the rank executables. Returns exit code 7 if the
/// file system of the bundle forbids that programs run.
Status checkBundle(const std::string &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
