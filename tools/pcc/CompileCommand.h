//===- CompileCommand.h - pcc MODEL, and the options that others share ----===//

#ifndef PCC_TOOLS_PCC_COMPILECOMMAND_H
#define PCC_TOOLS_PCC_COMPILECOMMAND_H

#include "runtime/engine/options/RunOptions.h"
#include "tools/pcc/Console.h"

namespace pcc::tool {

/// The options that compile, verify and explain share.
void addCompileOptions(CLI::App &app, CompileOptions &options);

/// --dtype of compile and explain; that of verify says more.
void addPrecision(CLI::App &app, std::string &dtype);

/// The command as it was typed, quoted for a shell, without its --dim: messages
/// complete it. `name` is "pcc verify", say.
std::string commandLine(const std::string &name, int argc,
                        const char *const *argv);

/// Progress on a terminal, notes unless quiet.
Listener terminalListener(bool quiet);

/// What `pcc verify` is asked for.
struct VerifyRequest {
  CompileOptions compile = {};
  VerifyOptions verify = {};
  /// --run
  bool runs = false;
};

/// What `pcc run` is asked for.
struct RunRequest {
  std::string bundle = {};
  runtime::RunOptions options = {};
};

// A command's options; what reading them sets must outlive the app.
void declareCompile(CLI::App &app, CompileOptions &options);
void declareVerify(CLI::App &app, VerifyRequest &request);
void declareRun(CLI::App &app, RunRequest &request);

// A command's arguments.
ParsedArguments parseCompile(int argc, const char *const *argv,
                             CompileOptions &options);
ParsedArguments parseVerify(int argc, const char *const *argv,
                            VerifyRequest &request);
ParsedArguments parseRun(int argc, const char *const *argv,
                         RunRequest &request);

/// Verifies, with the executables if that was asked for.
Outcome runVerify(VerifyRequest request, const Listener &listener);

int compileCommand(int argc, const char *const *argv);
int verifyCommand(int argc, const char *const *argv);
int explainCommand(int argc, const char *const *argv);
int inspectCommand(int argc, const char *const *argv);
int checkpointCommand(int argc, const char *const *argv);
int runCommand(int argc, const char *const *argv);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_COMPILECOMMAND_H
