//===- RunOptionsCli.h - the options of a run on a command line -----------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H

#include "runtime/engine/options/RunOptions.h"

namespace CLI {
class App;
}

namespace pcc::runtime {

/// Adds --input, --output and the others to a command. `options` must outlive
/// the parsing.
void addRunOptions(CLI::App &app, RunOptions &options);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONSCLI_H
