//===- OptionsCli.h - command line of compile, verify and explain ---------===//

#ifndef PCC_TOOLS_PCC_OPTIONSCLI_H
#define PCC_TOOLS_PCC_OPTIONSCLI_H

#include "passes/options/OptionTable.h"

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds to `app` the rows of the option table that belong to exactly the
/// commands `commands`. Parsing `app` writes to `options`, which must outlive
/// it, and throws a CLI::ValidationError for a value of the wrong form.
void addOptions(CLI::App &app, CompileOptions &options,
                OptionCommands commands);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_OPTIONSCLI_H
