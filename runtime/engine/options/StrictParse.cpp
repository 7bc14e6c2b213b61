//===- StrictParse.cpp - parsing that rejects empty values ----------------===//

#include "runtime/engine/options/StrictParse.h"

#include <CLI/CLI.hpp>

#include <string>

namespace pcc::runtime {

const CLI::Option *findOption(const CLI::App &app, const std::string &name) {
  if (const CLI::Option *option = app.get_option_no_throw(name))
    return option;
  for (const CLI::App *command :
       app.get_subcommands([](const CLI::App *) { return true; }))
    if (const CLI::Option *option = findOption(*command, name))
      return option;
  return nullptr;
}

/// Throws CLI::ValidationError if a word of the command line is a flag with an
/// equals sign and no value, such as "--save=". Without this check, CLI11 would
/// use the next word as the value of the flag. For example, "--save= dir" would
/// have the meaning of "--save=dir". The function does not check the words
/// after a word "--".
static void rejectMissingValues(int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--")
      return;
    const size_t equals = word.find('=');
    if (word.starts_with("--") && equals + 1 == word.size())
      throw CLI::ValidationError(word.substr(0, equals),
                                 "needs a value, got none");
  }
}

/// Throws CLI::ValidationError if a list on the command line has an empty
/// element, such as "--mesh a=2,,b=2". CLI11 would drop this element. The
/// function does not check the words after a word "--".
static void rejectEmptyElements(const CLI::App &app, int argc,
                                const char *const *argv) {
  for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    const CLI::Option *option =
        name.starts_with("--") ? findOption(app, name) : nullptr;
    if (!option || option->get_delimiter() == '\0')
      continue;
    const bool isJoined = name.size() < word.size();
    const std::string list = isJoined       ? word.substr(name.size() + 1)
                             : i + 1 < argc ? argv[i + 1]
                                            : "";
    const std::string comma(1, option->get_delimiter());
    if (list.starts_with(comma) || list.ends_with(comma) ||
        list.find(comma + comma) != list.npos)
      throw CLI::ValidationError(name,
                                 "has an empty element, got '" + list + "'");
  }
}

/// Makes all options and arguments of `app` and its subcommands reject empty
/// values.
static void rejectEmptyValues(CLI::App &app) {
  for (CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->check([](const std::string &value) -> std::string {
        return value.empty() ? "needs a value, got an empty one" : "";
      });
  for (CLI::App *command : app.get_subcommands({}))
    rejectEmptyValues(*command);
}

void parseStrictly(CLI::App &app, int argc, const char *const *argv) {
  rejectMissingValues(argc, argv);
  rejectEmptyElements(app, argc, argv);
  rejectEmptyValues(app);
  app.parse(argc, argv);
}

} // namespace pcc::runtime
