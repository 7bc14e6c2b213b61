//===- TrainingOptionsCli.h - command line options of training ------------===//

#ifndef PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H
#define PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H

#include "passes/Compile.h"

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds `--train` and the options of loss, optimizer, numerics and
/// recomputation to `app`. Parsing `app` writes to `options`, which must
/// outlive it. Options that the user does not give stay empty.
void addTrainingOptions(CLI::App &app, TrainingOptions &options);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H
