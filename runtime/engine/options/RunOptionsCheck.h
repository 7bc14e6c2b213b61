//===- RunOptionsCheck.h - options that a bundle would ignore -------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCHECK_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCHECK_H

#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"
#include "status/Status.h"

namespace pcc::runtime {

/// Returns an error with exit code 2 if the run would ignore an option. For
/// example, a bundle that does not train would ignore --save. `trains` says
/// whether the bundle trains, and `isForGpus` whether its ranks run on GPUs.
Status checkRunOptions(const RunOptions &options, bool trains, bool isForGpus);

/// Returns an error with exit code 2 if --weights is given, but `program` has
/// weights, and reads none of them from a file outside of the bundle.
Status checkWeightsOption(const RunOptions &options,
                          const program::ProgramT &program);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCHECK_H
