//===- RunBundle.h - starts all ranks of a bundle (`pcc run`) -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
#define PCC_RUNTIME_LAUNCH_RUNBUNDLE_H

#include "runtime/engine/options/RunOptions.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Runs all ranks of the bundle (output of pcc) in directory `bundle`, and
/// blocks until they have ended. If `options.comm` is "thread", the ranks are
/// threads of this process. Otherwise they are processes.
///
/// `arguments` is the command line of a rank's process, without the bundle.
/// `options` must be its parsed form. Returns the error of the run; the caller
/// prints it. Exit code 13 if the communicator does not fit the bundle's target
/// (CPU or GPU).
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
