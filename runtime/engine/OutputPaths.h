//===- OutputPaths.h - outputs that would replace inputs ------------------===//

#ifndef PCC_RUNTIME_ENGINE_OUTPUTPATHS_H
#define PCC_RUNTIME_ENGINE_OUTPUTPATHS_H

#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"
#include "status/Status.h"

namespace pcc::runtime {

/// Checks that no output file of the run, such as that of --report, would
/// replace a file that the run reads, a file of the bundle or of a checkpoint,
/// or another output.
/// `program` names the weight files. Returns an error with exit code 7 that
/// names the option and the file.
Status checkOutputPaths(const RunOptions &options,
                        const program::ProgramT &program);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OUTPUTPATHS_H
