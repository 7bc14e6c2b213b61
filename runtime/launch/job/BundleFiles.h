//===- BundleFiles.h - the executables of a bundle ------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
#define PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H

#include "runtime/base/Status.h"

#include <string>

namespace pcc::runtime {

/// "rank-000": at least three digits.
std::string rankFileName(int rank);

/// Number of ranks that the bundle has executables for: rank-000 and so on
/// without a gap; 0 if it is no bundle.
int countRanks(const std::string &bundle);

/// Whether its ranks need GPUs.
bool isForGpus(const std::string &bundle);

/// Exit code 11 if the bundle lacks ranks that it says it has.
Status checkComplete(const std::string &bundle);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_BUNDLEFILES_H
