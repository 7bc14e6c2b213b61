//===- Tool.cpp - choice of the command -----------------------------------===//

#include "tools/pcc/Tool.h"
#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"
#include "status/ShellWord.h"
#include "status/Suggestions.h"
#include "tools/pcc/CommandTable.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/reference/ReferenceCommands.h"

#include <string>
#include <unistd.h>
#include <vector>

/// Returns a question such as "; did you mean 'pcc run m.pcc'?" if the first
/// word is neither the path of a model nor a command, but resembles commands.
/// Otherwise, returns an empty text.
static std::string similarCommand(int argc, char **argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.starts_with("-") || word.find_first_of("./") != word.npos ||
      access(word.c_str(), F_OK) == 0)
    return "";
  std::string rest;
  for (int i = 2; i < argc; ++i)
    rest += " " + pcc::shellWord(argv[i]);
  std::vector<std::string> lines =
      pcc::findSimilar(word, pcc::tool::commandNames());
  for (std::string &line : lines) {
    line = "pcc " + line + rest;
    // Words in quotes need no further quotes around them.
    if (line.find('\'') == line.npos)
      line = "'" + line + "'";
  }
  return pcc::didYouMean(lines);
}

/// Returns whether the interface documents a command that this build does not
/// implement.
static bool isLater(const std::string &name) {
  return name == "generate" || name == "bench" || name == "calibrate";
}

// If the first argument is not the name of a command, it is a model to compile.
int pccMain(int argc, char **argv) {
  pcc::runtime::repairInheritedState();
  pcc::runtime::reportExhaustion(
      [](const pcc::Status &status) { pcc::tool::reportStatus(status); });
  if (pcc::Status status = pcc::runtime::raiseLimits(); status.failed())
    return pcc::tool::reportStatus(status);
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "__complete")
    return pcc::tool::candidatesCommand(argc - 1, argv + 1);
  if (first == "__share")
    return pcc::tool::shareCommand(argc - 1, argv + 1);
  if (const pcc::tool::CommandRow *row = pcc::tool::findCommand(first))
    return row->execute(argc - 1, argv + 1);
  if (isLater(first))
    return pcc::tool::reportStatus(pcc::Status::error(
        pcc::Unsupported, "command " + first + " is not available yet"));
  if (const std::string question = similarCommand(argc, argv);
      !question.empty())
    return pcc::tool::reportStatus(pcc::Status::error(
        pcc::WrongUsage,
        "'" + first + "' is neither a command nor a file" + question));
  return pcc::tool::compileCommand(argc, argv);
}
