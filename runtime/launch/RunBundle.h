//===- RunBundle.h - starts all ranks of a bundle (`pcc run`) -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
#define PCC_RUNTIME_LAUNCH_RUNBUNDLE_H

#include "runtime/engine/options/RunOptions.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Runs all ranks of the bundle in directory `bundle`, and blocks until all
/// ranks have ended. A bundle has one executable per rank. The caller prints
/// the returned error.
///
/// - If `options.comm` is "thread", the ranks are threads of this process.
/// - Otherwise each rank is a process. `arguments` contains the command-line
///   arguments of each process, such as {"--steps", "10"}.
///
/// `options` contains the same arguments, parsed. Returns an error with exit
/// code 13 if `options.comm` is "mpi" and the bundle was compiled for GPUs, or
/// if `options.comm` is "nccl" and the bundle was compiled for CPUs.
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
