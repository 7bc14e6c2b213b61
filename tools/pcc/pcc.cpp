//===- pcc.cpp - entry point of the command line tool ---------------------===//

#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

#include <map>
#include <string>

using Command = int (*)(int, const char *const *);

/// Returns the command of that name; null if there is none.
static Command find(const std::string &name) {
  static const std::map<std::string, Command> commands{
      {"compile", pcc::tool::compileCommand},
      {"verify", pcc::tool::verifyCommand},
      {"inspect", pcc::tool::inspectCommand},
      {"explain", pcc::tool::explainCommand},
      {"run", pcc::tool::runCommand},
      {"checkpoint", pcc::tool::checkpointCommand},
  };
  auto command = commands.find(name);
  return command == commands.end() ? nullptr : command->second;
}

/// Returns whether the interface documents a command that this build does not
/// implement.
static bool isLater(const std::string &name) { return name == "plan"; }

/// Executes `pcc help [COMMAND]`, which is the same as `pcc [COMMAND] --help`.
static int help(int argc, char **argv) {
  const char *const words[] = {argv[0], "--help"};
  Command command = argc > 2 ? find(argv[2]) : nullptr;
  return (command ? command : pcc::tool::compileCommand)(2, words);
}

// If the first argument is not the name of a command, it is a model to compile.
int main(int argc, char **argv) {
  pcc::runtime::repairInheritedState();
  pcc::runtime::reportExhaustion(
      [](const pcc::Status &status) { pcc::tool::reportStatus(status); });
  if (pcc::Status status = pcc::runtime::raiseLimits(); status.failed())
    return pcc::tool::reportStatus(status);
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "help")
    return help(argc, argv);
  if (Command command = find(first))
    return command(argc - 1, argv + 1);
  if (isLater(first))
    return pcc::tool::reportStatus(pcc::Status::error(
        pcc::Unsupported, "command " + first + " is not available yet"));
  return pcc::tool::compileCommand(argc, argv);
}
