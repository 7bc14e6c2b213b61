//===- RunBundle.h - what `pcc run` does ----------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
#define PCC_RUNTIME_LAUNCH_RUNBUNDLE_H

#include "runtime/base/Status.h"
#include "runtime/engine/options/RunOptions.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Runs all ranks of a bundle: as threads of this process (`options.comm` is
/// "thread"), else as processes, which get `arguments`, the command line that
/// `options` was parsed from without the bundle. The error is the caller's to
/// print.
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNBUNDLE_H
