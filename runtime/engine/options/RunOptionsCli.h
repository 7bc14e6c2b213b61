//===- RunOptionsCli.h - command-line flags of a run ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H

#include "runtime/engine/options/RunOptions.h"

namespace CLI {
class App;
}

namespace pcc::runtime {

/// Adds the file of one value NAME=FILE.npy of --input to `inputs`, which maps
/// names to files. Throws CLI::ValidationError for another form or a name that
/// is given twice.
void addInput(std::map<std::string, std::string> &inputs,
              const std::string &text);

/// Adds the flags of a run (--input, --output, --steps, …) to a command.
/// Parsing writes to `options`, which must outlive `app`. A malformed value
/// throws CLI::ValidationError.
void addRunOptions(CLI::App &app, RunOptions &options);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
