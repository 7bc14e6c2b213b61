//===- CommandTable.cpp - the commands of the tool ------------------------===//

#include "tools/pcc/CommandTable.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/reference/ReferenceCommands.h"
#include "tools/pcc/reference/Topics.h"

using namespace pcc;
using namespace pcc::tool;
using namespace pcc::runtime;

/// Returns a function that declares a command whose options have the type
/// `Values`.
template <typename Values, void (*declareWith)(CLI::App &, Values &)>
static void declare(CLI::App &app) {
  static Values values;
  declareWith(app, values);
}

static constexpr CommandRow rows[] = {
    {"compile", declare<CompileOptions, declareCompile>, compileCommand},
    {"run", declare<RunRequest, declareRun>, runCommand},
    {"verify", declare<VerifyRequest, declareVerify>, verifyCommand},
    {"inspect", declareInspect, inspectCommand},
    {"explain", declareExplain, explainCommand},
    {"plan", declarePlan, planCommand},
    {"report", declareReport, reportCommand},
    {"checkpoint", declareCheckpoint, checkpointCommand},
    {"help", declareHelp, helpCommand},
    {"completion", declareCompletion, completionCommand},
};

std::span<const CommandRow> tool::commandTable() { return rows; }

const CommandRow *tool::findCommand(std::string_view name) {
  for (const CommandRow &row : rows)
    if (name == row.name)
      return &row;
  return nullptr;
}

std::vector<std::string> tool::commandNames() {
  std::vector<std::string> names;
  for (const CommandRow &row : rows)
    names.emplace_back(row.name);
  return names;
}

/// Returns the section that lists all commands.
static PageSection commandSection() {
  PageSection section{"Commands"};
  for (const CommandRow &row : rows) {
    CLI::App app;
    row.declare(app);
    section.entries.push_back({.names = {row.name},
                               .meaning = pageOf(app).summary(),
                               .isArgument = true});
  }
  return section;
}

CommandPage tool::describe(const CLI::App &app) {
  CommandPage page = pageOf(app);
  if (page.name != "pcc")
    return page;
  page.sections.insert(page.sections.begin(), commandSection());
  page.footer = "A command line that begins with no command compiles: `pcc "
                "MODEL` is `pcc compile MODEL`. `pcc help COMMAND` shows the "
                "options of a command, `pcc help TOPIC` explains one of " +
                CLI::detail::join(topicNames(), ", ") + ".\n\n" +
                exitCodeSummary();
  return page;
}

/// Adds the pages of `app` and its subcommands to `pages`.
static void addPages(const CLI::App &app, std::vector<CommandPage> &pages) {
  pages.push_back(describe(app));
  for (const CLI::App *command :
       app.get_subcommands([](const CLI::App *) { return true; }))
    addPages(*command, pages);
}

std::vector<CommandPage> tool::pagesOf(const CommandRow &row) {
  CLI::App app;
  row.declare(app);
  addStandardOptions(app);
  std::vector<CommandPage> pages;
  addPages(app, pages);
  return pages;
}
