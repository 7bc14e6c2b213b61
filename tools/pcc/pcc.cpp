//===- pcc.cpp - entry point of the command line tool ---------------------===//

#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"
#include "runtime/base/Suggestions.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using Command = int (*)(int, const char *const *);

static const std::map<std::string, Command> &commands() {
  static const std::map<std::string, Command> all{
      {"compile", pcc::tool::compileCommand},
      {"verify", pcc::tool::verifyCommand},
      {"inspect", pcc::tool::inspectCommand},
      {"explain", pcc::tool::explainCommand},
      {"run", pcc::tool::runCommand},
      {"report", pcc::tool::reportCommand},
      {"checkpoint", pcc::tool::checkpointCommand},
  };
  return all;
}

/// Returns the command of that name; null if there is none.
static Command find(const std::string &name) {
  auto command = commands().find(name);
  return command == commands().end() ? nullptr : command->second;
}

/// Returns a question such as "; did you mean run?" if `word` is neither the
/// path of a model nor a command, but resembles a command. Otherwise, returns
/// an empty text.
static std::string similarCommand(const std::string &word) {
  if (word.starts_with("-") || word.find_first_of("./") != word.npos ||
      access(word.c_str(), F_OK) == 0)
    return "";
  std::vector<std::string> names = {"help"};
  for (const auto &[name, command] : commands())
    names.push_back(name);
  return pcc::runtime::didYouMean(word, names);
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
  if (const std::string question = similarCommand(first); !question.empty())
    return pcc::tool::reportStatus(pcc::Status::error(
        pcc::WrongUsage,
        "'" + first + "' is neither a command nor a file" + question));
  return pcc::tool::compileCommand(argc, argv);
}
