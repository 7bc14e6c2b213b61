//===- ReferenceCommands.cpp - help, completion and manual pages ----------===//

#include "tools/pcc/reference/ReferenceCommands.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/TextTable.h"
#include "runtime/engine/options/HelpText.h"
#include "runtime/engine/options/OneOf.h"
#include "status/Suggestions.h"
#include "tools/pcc/CommandTable.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/reference/Candidates.h"
#include "tools/pcc/reference/ManualPage.h"
#include "tools/pcc/reference/ShellScripts.h"
#include "tools/pcc/reference/Topics.h"

#include <filesystem>

using namespace pcc;
using namespace pcc::tool;
using namespace pcc::runtime;

/// Returns the names of all commands, then those of all topics.
static std::vector<std::string> helpNames() {
  std::vector<std::string> names = commandNames();
  const std::vector<std::string> topics = topicNames();
  names.insert(names.end(), topics.begin(), topics.end());
  return names;
}

static void declareHelp(CLI::App &app, std::string &name) {
  app.name("pcc help");
  app.description("shows the options of a command, or explains a topic\n\n"
                  "examples:\n  pcc help run\n  pcc help sharding");
  app.add_option("TOPIC", name, "command or topic (default: a list of both)")
      ->check(suggest(helpNames()));
}

void tool::declareHelp(CLI::App &app) {
  static std::string name;
  ::declareHelp(app, name);
}

static void declareCompletion(CLI::App &app, std::string &shell) {
  std::vector<std::string> shells;
  for (const ShellScript &script : shellScripts())
    shells.emplace_back(script.shell);
  app.name("pcc completion");
  app.description(
      "prints a script that completes command lines at TAB\n\nAn installation "
      "has the scripts where shells find them. Otherwise, this loads one: "
      "`source <(pcc completion bash)`, or `source <(pcc completion zsh)`, or "
      "`pcc completion fish | source`.\n\nexamples:\n  pcc completion bash");
  app.add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(oneOf(shells));
}

void tool::declareCompletion(CLI::App &app) {
  static std::string shell;
  ::declareCompletion(app, shell);
}

/// Returns the text of `pcc help`: the commands and the topics.
static std::string overview(size_t width) {
  CommandPage page = pagesOf(commandTable().front()).front();
  page.usage = "MODEL|COMMAND [OPTIONS]";
  page.sections.resize(1); // Keeps the commands.
  PageSection topics{"Topics of `pcc help TOPIC`"};
  for (const std::string &name : topicNames())
    topics.entries.push_back(
        {.names = {name}, .meaning = topicSummary(name), .isArgument = true});
  page.sections.push_back(topics);
  return helpText(page, width);
}

int tool::helpCommand(int argc, const char *const *argv) {
  std::string name;
  CLI::App app;
  ::declareHelp(app, name);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  const size_t width = textWidth();
  if (name.empty())
    return reportStatus(printText(overview(width)));
  if (const CommandRow *row = findCommand(name)) {
    std::string text;
    for (const CommandPage &page : pagesOf(*row))
      text += (text.empty() ? "" : "\n") + helpText(page, width);
    return reportStatus(printText(text));
  }
  if (const auto text = topicText(name, width))
    return reportStatus(printText(*text));
  return reportStatus(
      Status::error(WrongUsage,
                    "no command or topic is called '" + name + "'" +
                        nearestOf(name, helpNames()),
                    {"'pcc help' lists the commands and topics"}));
}

int tool::completionCommand(int argc, const char *const *argv) {
  std::string shell;
  CLI::App app;
  ::declareCompletion(app, shell);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  for (const ShellScript &script : shellScripts())
    if (shell == script.shell)
      return reportStatus(printText(script.text));
  return Done;
}

int tool::candidatesCommand(int argc, const char *const *argv) {
  std::string text;
  for (const CompletionWord &candidate : candidatesFor({argv + 1, argv + argc}))
    text += candidate.word +
            (candidate.meaning.empty() ? "" : "\t" + candidate.meaning) + "\n";
  return reportStatus(printText(text));
}

/// Writes a file and the folders above it.
static Status writeShared(const std::filesystem::path &path,
                          const std::string &text) {
  std::error_code problem;
  std::filesystem::create_directories(path.parent_path(), problem);
  if (problem)
    return Status::error(InputOutput, "cannot create '" +
                                          path.parent_path().string() +
                                          "': " + problem.message());
  return writeFileAtomically(path, text);
}

/// Writes the manual pages of all commands to `folder`.
static Status writeManuals(const std::filesystem::path &folder) {
  std::vector<CommandPage> pages;
  for (const CommandRow &row : commandTable())
    for (CommandPage &page : pagesOf(row))
      pages.push_back(std::move(page));
  std::vector<std::string> names;
  for (const CommandPage &page : pages)
    names.push_back(manualName(page.name));
  for (const CommandPage &page : pages) {
    std::vector<std::string> others = names;
    std::erase(others, manualName(page.name));
    PCC_RETURN_IF_ERROR(writeShared(folder / (manualName(page.name) + ".1"),
                                    manualPage(page, others)));
  }
  // `pcc` and `pcc compile` are one command.
  return writeShared(folder / "pcc-compile.1", ".so man1/pcc.1\n");
}

int tool::shareCommand(int argc, const char *const *argv) {
  if (argc != 2)
    return reportStatus(
        Status::error(WrongUsage, "__share needs one folder to write to"));
  const std::filesystem::path folder = argv[1];
  Status status = writeManuals(folder / "man" / "man1");
  for (const ShellScript &script : shellScripts())
    if (status.ok())
      status = writeShared(folder / script.place, script.text);
  return reportStatus(status);
}
