//===- CommandTable.h - the commands of the tool --------------------------===//

#ifndef PCC_TOOLS_PCC_COMMANDTABLE_H
#define PCC_TOOLS_PCC_COMMANDTABLE_H

#include "runtime/engine/options/CommandPage.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace pcc::tool {

/// One command, such as `pcc run`.
struct CommandRow {
  const char *name;
  /// Adds the name, the description and all options of the command to an `app`
  /// that is only to be listed, not to be parsed.
  void (*declare)(CLI::App &app);
  /// Executes the command and returns the exit code of the process. argv[0] is
  /// ignored.
  int (*execute)(int argc, const char *const *argv);
};

/// Returns all commands in the order of --help. The first one is `compile`.
std::span<const CommandRow> commandTable();

/// Returns the command of that name; null if there is none.
const CommandRow *findCommand(std::string_view name);

/// Returns the names of all commands.
std::vector<std::string> commandNames();

/// Returns the page of a declared command. That of `compile`, which is called
/// "pcc", also lists the commands and the exit codes.
runtime::CommandPage describe(const CLI::App &app);

/// Returns the pages of a command and of its subcommands, with the options that
/// every command has.
std::vector<runtime::CommandPage> pagesOf(const CommandRow &row);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_COMMANDTABLE_H
