//===- OptionsCli.h - command line of compile, verify and explain ---------===//

#ifndef PCC_TOOLS_PCC_OPTIONSCLI_H
#define PCC_TOOLS_PCC_OPTIONSCLI_H

#include "passes/options/OptionTable.h"

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds the options of the table that exactly `commands` take to `app`. Parsing
/// `app` writes to `options`, which must outlive it, and throws a
/// CLI::ValidationError for a value of the wrong form.
void addOptions(CLI::App &app, CompileOptions &options,
                OptionCommands commands);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_OPTIONSCLI_H
