//===- CommandPage.cpp - what a command and its options are ---------------===//

#include "runtime/engine/options/CommandPage.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace pcc::runtime {

std::string PageEntry::head() const {
  std::string text = CLI::detail::join(names, ", ");
  return hasValue() ? text + " " + value : text;
}

std::string CommandPage::summary() const {
  return about.substr(0, about.find("\n\n"));
}

/// Filter for CLI::App::get_subcommands() that selects all subcommands, also
/// those that the command line does not name.
static bool allCommands(const CLI::App *) { return true; }

/// Returns the words that call `app`: the names of its parents and its own.
static std::string nameOf(const CLI::App &app) {
  const CLI::App *parent = app.get_parent();
  return parent ? nameOf(*parent) + " " + app.get_name() : app.get_name();
}

/// Returns the words between the braces of `type`, the type name of an option
/// with its checks, such as "TEXT:{cpu,cuda}".
static std::vector<std::string> wordsIn(const std::string &type) {
  const size_t begin = type.find(":{"), end = type.find('}', begin);
  if (begin == type.npos || end == type.npos)
    return {};
  return CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
}

/// Returns the placeholder for a value of the type that CLI11 calls `type`: "N"
/// for "INT" and "UINT", "X" for "FLOAT", and `type` itself for other types.
static std::string placeholderOf(const std::string &type) {
  if (type == "INT" || type == "UINT")
    return "N";
  return type == "FLOAT" ? "X" : type;
}

/// Returns the placeholder for the value of an option in the help. If the
/// option has a placeholder of its own, such as DIR, returns it. Otherwise
/// returns the allowed words, such as "cpu|cuda", or a placeholder for the
/// type, such as "N". If the option takes a list, appends ",...".
static std::string valueOf(const CLI::Option &option) {
  const std::string full = option.get_type_name();
  const std::string type = full.substr(0, full.find(":{"));
  const std::vector<std::string> words = wordsIn(full);
  std::string value = type == "TEXT" && !words.empty()
                          ? CLI::detail::join(words, "|")
                          : placeholderOf(type);
  const bool isList = option.get_delimiter() != '\0';
  return isList && value.find(',') == value.npos ? value + ",..." : value;
}

/// Returns what is known about an option besides its description: its default,
/// the options that it excludes, and whether it is required.
static std::string remarksOf(const CLI::Option &option) {
  std::string text;
  if (!option.get_default_str().empty())
    text += " (default " + option.get_default_str() + ")";
  std::vector<std::string> excluded;
  for (const CLI::Option *other : option.get_excludes())
    excluded.push_back(other->get_name());
  std::sort(excluded.begin(), excluded.end());
  if (!excluded.empty())
    text += "; not with " + CLI::detail::join(excluded, " or ");
  if (option.get_required() && !option.get_positional())
    text += "; required";
  return text;
}

static PageEntry entryOf(const CLI::Option &option) {
  PageEntry entry;
  entry.isArgument = option.get_positional();
  entry.isRepeated = option.get_items_expected_max() > 1;
  for (const std::string &name : option.get_snames())
    entry.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    entry.names.push_back("--" + name);
  if (entry.isArgument)
    entry.names = {option.get_name(/*positional=*/true)};
  else if (option.get_items_expected_max() > 0)
    entry.value = valueOf(option);
  entry.words = wordsIn(option.get_type_name());
  entry.separator = option.get_delimiter();
  entry.meaning = option.get_description() + remarksOf(option);
  return entry;
}

/// Returns the section of `page` with the title `title`. If `page` has no such
/// section, adds an empty one.
static PageSection &sectionOf(CommandPage &page, const std::string &title) {
  for (PageSection &section : page.sections)
    if (section.title == title)
      return section;
  return page.sections.emplace_back(PageSection{title});
}

/// Divides the description of a command into its text (`page.about`) and the
/// command lines after the title "examples:" (`page.examples`).
static void setAbout(CommandPage &page, const std::string &description) {
  const std::string title = "\n\nexamples:\n";
  const size_t at = description.find(title);
  page.about = description.substr(0, at);
  if (at == description.npos)
    return;
  std::istringstream lines(description.substr(at + title.size()));
  for (std::string line; std::getline(lines, line);)
    page.examples.push_back(CLI::detail::trim(line));
}

/// Adds the sections of the command `app` to `page`. The section of the
/// arguments comes first. The section of the options that all commands share
/// comes last.
static void addSections(CommandPage &page, const CLI::App &app) {
  PageSection common{"Options"};
  for (const CLI::App *command : app.get_subcommands(allCommands))
    sectionOf(page, "Commands")
        .entries.push_back({.names = {command->get_name()},
                            .meaning = pageOf(*command).summary(),
                            .isArgument = true});
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_group().empty())
      continue;
    const bool isCommon = option->get_group() == common.title;
    PageSection &section = option->get_positional()
                               ? sectionOf(page, "Arguments")
                           : isCommon ? common
                                      : sectionOf(page, option->get_group());
    section.entries.push_back(entryOf(*option));
  }
  page.sections.push_back(common);
  std::stable_partition(
      page.sections.begin(), page.sections.end(),
      [](const PageSection &section) { return section.title == "Arguments"; });
}

/// Returns the arguments and the required options of `app`.
static std::string usageOf(const CLI::App &app) {
  std::string text;
  for (const CLI::App *command : app.get_subcommands(allCommands))
    text += (text.empty() ? "" : "|") + command->get_name() + " ";
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_group().empty())
      continue;
    if (option->get_positional()) {
      const PageEntry entry = entryOf(*option);
      const std::string name =
          entry.names.front() + (entry.isRepeated ? "..." : "");
      text += option->get_required() ? name + " " : "[" + name + "] ";
    } else if (option->get_required()) {
      text += entryOf(*option).names.front() + " " + valueOf(*option) + " ";
    }
  }
  return text + "[OPTIONS]";
}

CommandPage pageOf(const CLI::App &app) {
  CommandPage page;
  page.name = nameOf(app);
  page.usage = usageOf(app);
  page.footer = app.get_footer();
  setAbout(page, app.get_description());
  addSections(page, app);
  return page;
}

} // namespace pcc::runtime
