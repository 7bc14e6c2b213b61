//===- Console.h - messages and argument parsing of the tool --------------===//
//
// Results go to stdout. Errors, notes and progress go to stderr.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_TOOLS_PCC_CONSOLE_H
#define PCC_TOOLS_PCC_CONSOLE_H

#include "passes/Compile.h"
#include "runtime/base/TrainingLine.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace pcc::tool {

/// Prints an error as one line `pcc: error: …` with one line per note; prints
/// nothing on success. Returns the exit code.
int reportStatus(const Status &status);
/// Prints one line `pcc: note: …`.
void printNote(const std::string &note);

/// Prints a text about what was made, which may have several lines.
void printResult(const std::string &text);

/// Returns whether progress can be shown: stderr is a terminal that can erase a
/// line, and stdout is not a pipe, whose reader may write to the same terminal.
bool showsProgress();
/// Returns whether stdout is a terminal.
bool isStdoutTerminal();
/// Shows a training step on the terminal, in color unless the environment has
/// NO_COLOR or TERM=dumb. A line that is kept goes to stdout; another one
/// replaces the progress line if `showsOthers` is true.
void showTrainingLine(const runtime::TrainingLine &line, bool showsOthers);
/// Replaces the progress line of the terminal, which the next error or note
/// removes. An empty text clears the line.
void showProgress(const std::string &what);

/// Result of parsing the arguments of a command.
struct ParsedArguments {
  /// Success, or the error: wrong usage or an unsupported option.
  Status status = {};
  /// Text to print instead of executing the command: its help, its version or
  /// the list of phases. Empty if the command is to be executed.
  std::string text = {};
};

/// Adds --help and --version, which every command has, to `app`.
void addStandardOptions(CLI::App &app);

/// Parses the arguments of a command and adds `--version` to its options. A
/// CLI::ParseError with the exit code `Unsupported` is reported as unsupported,
/// all others as wrong usage.
/// argv[0] is ignored.
ParsedArguments parseArguments(CLI::App &app, int argc,
                               const char *const *argv);

/// Writes all of `text` to stdout; exit code 7 if that fails. If the reader of
/// stdout has ended, SIGPIPE ends this process.
Status printText(const std::string &text);

/// Ends this process by SIGPIPE if stdout is a pipe whose reader has ended. So
/// do all commands of a shell's pipeline.
void endWithoutReader();

/// Prints the error or the text of `reading`. Returns the exit code if the
/// command is not to be executed, else std::nullopt.
std::optional<int> finishEarly(const ParsedArguments &reading);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_CONSOLE_H
