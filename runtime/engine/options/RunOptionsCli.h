//===- RunOptionsCli.h - command-line flags of a run ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H

#include "runtime/engine/options/RunOptions.h"

namespace CLI {
class App;
}

namespace pcc::runtime {

/// Adds the flags of a run (--input, --output, --steps, …) to a command.
/// Parsing writes to `options`, which must outlive `app`. A malformed value
/// throws CLI::ValidationError.
void addRunOptions(CLI::App &app, RunOptions &options);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
