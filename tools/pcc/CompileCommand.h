//===- CompileCommand.h - pcc MODEL, and the options that others share ----===//

#ifndef PCC_TOOLS_PCC_COMPILECOMMAND_H
#define PCC_TOOLS_PCC_COMPILECOMMAND_H

#include "passes/Compile.h"

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// The options that compile, verify and explain share.
void addCompileOptions(CLI::App &app, CompileOptions &options);

/// The command as it was typed, quoted for a shell, without its --dim: messages
/// complete it. `name` is "pcc verify", say.
std::string commandLine(const std::string &name, int argc,
                        const char *const *argv);

/// Progress on a terminal, notes unless quiet.
Listener terminalListener(bool quiet);

int compileCommand(int argc, const char *const *argv);
int verifyCommand(int argc, const char *const *argv);
int explainCommand(int argc, const char *const *argv);
int inspectCommand(int argc, const char *const *argv);
int checkpointCommand(int argc, const char *const *argv);
int runCommand(int argc, const char *const *argv);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_COMPILECOMMAND_H
