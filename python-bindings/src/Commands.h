//===- Commands.h - Python bindings of commands ---------------------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_COMMANDS_H
#define PCC_PYTHON_BINDINGS_SRC_COMMANDS_H

#include "runtime/engine/options/RunOptions.h"

#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace pcc::python {

/// Arguments of a command without the command's name.
using CommandWords = std::vector<std::string>;

/// Parses options of `pcc run` for ranks in this process. `words` are options
/// only; the bundle is given separately. Raises `pcc.Error` on wrong usage.
runtime::RunOptions readRunOptions(const std::string &bundle,
                                   const CommandWords &words);

/// Defines the functions of the extension module that run commands.
void defineCommands(nanobind::module_ &module);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_COMMANDS_H
