//===- StrictParse.cpp - parsing that rejects empty values ----------------===//

#include "runtime/engine/options/StrictParse.h"

#include <CLI/CLI.hpp>

#include <string>

namespace pcc::runtime {

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
  rejectEmptyValues(app);
  app.parse(argc, argv);
}

} // namespace pcc::runtime
