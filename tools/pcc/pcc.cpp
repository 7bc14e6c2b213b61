//===- pcc.cpp - the command line ----------------------------------------===//

#include "tools/pcc/CompileCommand.h"

#include <map>
#include <string>

int main(int argc, char **argv) {
  using Command = int (*)(int, const char *const *);
  static const std::map<std::string, Command> commands{
      {"compile", pcc::tool::compileCommand},
      {"verify", pcc::tool::verifyCommand},
      {"inspect", pcc::tool::inspectCommand},
      {"run", pcc::tool::runCommand},
  };
  auto command = argc > 1 ? commands.find(argv[1]) : commands.end();
  if (command == commands.end())
    return pcc::tool::compileCommand(argc, argv);
  return command->second(argc - 1, argv + 1);
}
