//===- Commands.h - compile, verify and inspect for Python ----------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_COMMANDS_H
#define PCC_PYTHON_BINDINGS_SRC_COMMANDS_H

#include "runtime/engine/options/RunOptions.h"

#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace pcc::python {

/// Words of a command line, without the command's name.
using CommandWords = std::vector<std::string>;

/// The options of `pcc run`; `words` name no bundle.
runtime::RunOptions readRunOptions(const std::string &bundle,
                                   const CommandWords &words);

void defineCommands(nanobind::module_ &module);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_COMMANDS_H
