//===- RunBundle.h - starts all ranks of a bundle (`pcc run`) -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
#define PCC_RUNTIME_LAUNCH_RUNBUNDLE_H

#include "runtime/base/Status.h"
#include "runtime/engine/options/RunOptions.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Runs all ranks of the bundle in directory `bundle`, and blocks until they
/// have ended. With `options.comm` "thread" the ranks are threads of this
/// process. Otherwise they are processes with the command line `arguments`: the
/// text that `options` was parsed from, without the bundle. Returns the error
/// of the run; the caller prints it. Exit code 13 if the communicator does not
/// fit the bundle's target.
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
