//===- CompileCommand.h - options and entry points of all commands --------===//

#ifndef PCC_TOOLS_PCC_COMPILECOMMAND_H
#define PCC_TOOLS_PCC_COMPILECOMMAND_H

#include "runtime/engine/options/RunOptions.h"
#include "tools/pcc/Console.h"

namespace pcc::tool {

/// Returns the command as the user typed it, quoted for a shell, without its
/// `--dim` options. Error messages about unbound dims append the options that
/// are missing. `name` replaces argv[0], such as "pcc verify".
std::string commandLine(const std::string &name, int argc,
                        const char *const *argv);

/// Returns a listener that prints notes to stderr unless `quiet`, and that
/// shows the current phase if stderr is a terminal.
Listener terminalListener(bool quiet);

/// Arguments of `pcc verify`.
struct VerifyRequest {
  CompileOptions compile = {};
  VerifyOptions verify = {};
  /// Whether to run the executables as well (`--run`).
  bool runs = false;
};

/// Arguments of `pcc explain`.
struct ExplainRequest {
  CompileOptions compile = {};
  ExplainOptions explain = {};
};

/// Arguments of `pcc run`.
struct RunRequest {
  /// Directory of the bundle.
  std::string bundle = {};
  runtime::RunOptions options = {};
  /// Path of the page of --html. If empty, no page is written.
  std::string html = {};
  /// The command as the user typed it, which the page shows.
  std::string command = {};
};

// Each of these functions adds the name, the description and all options of one
// command to `app`. Parsing `app` writes to the second argument, which must
// outlive it.
void declareCompile(CLI::App &app, CompileOptions &options);
void declareVerify(CLI::App &app, VerifyRequest &request);
void declareExplain(CLI::App &app, ExplainRequest &request);
void declareRun(CLI::App &app, RunRequest &request);

// Each of these functions does the same for a command whose options nothing
// else parses. `app` is only to be listed, not to be parsed.
void declareExplain(CLI::App &app);
void declareInspect(CLI::App &app);
void declareReport(CLI::App &app);
void declarePlan(CLI::App &app);
void declareCheckpoint(CLI::App &app);

// Each of these functions parses the arguments of one command. argv[0] is
// ignored. The options are complete only if the result has neither an error nor
// a text to print.
ParsedArguments parseCompile(int argc, const char *const *argv,
                             CompileOptions &options);
ParsedArguments parseVerify(int argc, const char *const *argv,
                            VerifyRequest &request);
ParsedArguments parseExplain(int argc, const char *const *argv,
                             ExplainRequest &request);
ParsedArguments parseRun(int argc, const char *const *argv,
                         RunRequest &request);

/// Verifies a model on simulated ranks. If `request.runs`, the executables are
/// compiled, run and compared as well, in a private temporary folder.
Status runVerify(VerifyRequest request, std::string &verdict,
                 const Listener &listener);

// Each of these functions executes one command and returns the exit code of the
// process. argv[0] is ignored.
int compileCommand(int argc, const char *const *argv);
int verifyCommand(int argc, const char *const *argv);
int explainCommand(int argc, const char *const *argv);
int inspectCommand(int argc, const char *const *argv);
int checkpointCommand(int argc, const char *const *argv);
int runCommand(int argc, const char *const *argv);
int reportCommand(int argc, const char *const *argv);
int planCommand(int argc, const char *const *argv);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_COMPILECOMMAND_H
