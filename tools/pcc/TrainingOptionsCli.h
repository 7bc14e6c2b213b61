//===- TrainingOptionsCli.h - how to train, on a command line -------------===//

#ifndef PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H
#define PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H

#include "passes/Compile.h"

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds --train and what says how.
void addTrainingOptions(CLI::App &app, TrainingOptions &options);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_TRAININGOPTIONSCLI_H
