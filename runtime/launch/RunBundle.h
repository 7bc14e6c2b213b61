//===- RunBundle.h - starts all ranks of a bundle (`pcc run`) -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
#define PCC_RUNTIME_LAUNCH_RUNBUNDLE_H

#include "runtime/engine/options/RunOptions.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Runs all ranks of the bundle in directory `bundle`, and blocks until they
/// have ended. The ranks are threads of this process if `options.comm` is
/// "thread", otherwise processes. The caller prints the returned error. Exit
/// code 13 if the communicator does not fit the bundle's target (CPU or GPU).
///
/// `arguments` is the command line of a rank's process, without the bundle.
/// `options` is its parsed form.
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
