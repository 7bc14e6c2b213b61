//===- Console.h - how the tool speaks to its user ------------------------===//
//
// stdout carries results only; everything here goes to stderr.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_TOOLS_PCC_CONSOLE_H
#define PCC_TOOLS_PCC_CONSOLE_H

#include "passes/Compile.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace pcc::tool {

/// One line `pcc: error: …` and its notes if the outcome is an error; returns
/// the exit code.
int reportOutcome(const Outcome &outcome);
void printNote(const std::string &note);

/// Whether someone watches stderr.
bool isTerminal();
/// Overwrites the progress line.
void showProgress(const std::string &what);

/// The exit code of a CLI::ParseError that means: possible, but not built.
inline constexpr int unsupportedCode = 4;

/// What reading a command's arguments came to.
struct ParsedArguments {
  /// Wrong usage, if it is no success.
  Outcome outcome = {};
  /// What was asked for in place of the command: its help, the version.
  std::string text = {};
};

/// Reads a command's arguments; argv[0] is not one of them.
ParsedArguments parseArguments(CLI::App &app, int argc,
                               const char *const *argv);

/// Says what there is to say. Returns an exit code if the command ends here:
/// after --help, or on wrong usage.
std::optional<int> finishEarly(const ParsedArguments &reading);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_CONSOLE_H
