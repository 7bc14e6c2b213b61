//===- UsageErrors.cpp - messages about wrong command lines ---------------===//

#include "tools/pcc/UsageErrors.h"
#include "runtime/base/QuantityText.h"
#include "runtime/engine/options/StrictParse.h"
#include "status/Counted.h"
#include "status/Suggestions.h"
#include "tools/pcc/CommandTable.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

using namespace pcc;

/// Makes the first letter of a message of CLI11 lower-case. A message that
/// begins with a name in capital letters gets the prefix "argument" instead.
static std::string inLowerCase(std::string text) {
  if (text.size() > 1 && isupper(static_cast<unsigned char>(text[1])))
    return "argument " + text;
  if (!text.empty())
    text[0] = static_cast<char>(tolower(text[0]));
  return text;
}

/// Selects all subcommands, also those that the command line does not name.
static bool allCommands(const CLI::App *) { return true; }

/// Names of other tools for options of pcc.
static constexpr std::pair<std::string_view, const char *> synonyms[] = {
    {"--tensor-parallel", "--tp"},
    {"--tensor-parallel-size", "--tp"},
    {"--tensor-model-parallel-size", "--tp"},
    {"--pipeline-parallel", "--pp"},
    {"--pipeline-parallel-size", "--pp"},
    {"--pipeline-model-parallel-size", "--pp"},
    {"--data-parallel", "--dp"},
    {"--data-parallel-size", "--dp"},
    {"--context-parallel", "--cp"},
    {"--context-parallel-size", "--cp"},
    {"--expert-parallel", "--ep"},
    {"--expert-model-parallel-size", "--ep"},
    {"--learning-rate", "--lr"},
    {"--precision", "--dtype"},
    {"--device", "--target"},
    {"--world-size", "--tp, --pp or --dp"},
    {"--epochs", "--steps"},
    {"--iterations", "--steps"},
    {"--checkpoint", "--save or --resume"},
    {"--num-threads", "--threads"}};

/// Returns the names of all options of `app` and its subcommands, such as
/// "--tp".
static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  for (const CLI::App *command : app.get_subcommands(allCommands))
    for (std::string &name : optionNames(*command))
      names.push_back(std::move(name));
  return names;
}

/// Returns the end of a message that `app` has no option `name`: the commands
/// that have one of this name, such as "; 'pcc run' has one". Without any,
/// suggests similar options of `app`.
static std::string ownersOrSimilar(const CLI::App &app,
                                   const std::string &name) {
  std::vector<std::string> owners;
  for (const tool::CommandRow &row : tool::commandTable()) {
    CLI::App other;
    row.declare(other);
    if (runtime::findOption(other, name))
      owners.push_back(std::string("'pcc ") + row.name + "'");
  }
  if (owners.empty())
    return didYouMean(name, optionNames(app));
  return "; " + CLI::detail::join(owners, ", ") +
         (owners.size() == 1 ? " has one" : " have one");
}

/// Returns the error of the first word on the command line that begins with a
/// hyphen and is no option of `app`; std::nullopt if there is none.
static std::optional<std::string>
findUnknownOption(const CLI::App &app, int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (word == "--")
      return std::nullopt;
    if (!name.starts_with("-") || name == "-" || runtime::findOption(app, name))
      continue;
    for (const auto &[other, own] : synonyms)
      if (name == other)
        return "no option is called " + name + "; did you mean " + own + "?";
    return "no option is called " + name + ownersOrSimilar(app, name);
  }
  return std::nullopt;
}

/// Returns whether `text` has more brackets `open` than `close`.
static bool isOpen(const std::string &text, char open, char close) {
  return std::count(text.begin(), text.end(), open) >
         std::count(text.begin(), text.end(), close);
}

/// Returns the error of the first word that is the end of the value of an
/// option, such as GiB of `--memory-limit 8 GiB` or -] of `--shard w=[tp, -]`.
/// std::nullopt if there is none.
static std::optional<std::string>
findDividedValue(const CLI::App &app, int argc, const char *const *argv) {
  static const std::regex unit("[kKMGT]i?B");
  for (int i = 3; i < argc; ++i) {
    const std::string name = argv[i - 2], begin = argv[i - 1], end = argv[i];
    if (name.starts_with("--") && runtime::findOption(app, name) &&
        (isOpen(begin, '[', ']') || isOpen(begin, '(', ')') ||
         std::regex_match(end, unit)))
      return "'" + end + "' is not part of " + name + " " + begin +
             "; a value with spaces needs quotes: " + name + " '" + begin +
             " " + end + "'";
  }
  return std::nullopt;
}

/// Returns the error of a word NAME=VALUE that follows the value of an option
/// of this form, such as seq=32 of `--dim batch=8 seq=32`. Returns std::nullopt
/// if there is none.
static std::optional<std::string>
findMissingOption(const CLI::App &app, int argc, const char *const *argv) {
  for (int i = 3; i < argc; ++i) {
    const std::string name = argv[i - 2], before = argv[i - 1], word = argv[i];
    if (name.starts_with("--") && runtime::findOption(app, name) &&
        before.find('=') != before.npos && word.find('=') != word.npos &&
        word[0] != '-')
      return "'" + word + "' is not part of " + name + " " + before +
             "; did you mean " + name + " " + word + "?";
  }
  return std::nullopt;
}

/// Returns the error of a first word that is no subcommand of `app`, which has
/// subcommands; std::nullopt if the word is one.
static std::optional<std::string>
findUnknownSubcommand(const CLI::App &app, int argc, const char *const *argv) {
  if (app.get_require_subcommand_min() == 0 || argc < 2 || argv[1][0] == '-')
    return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(allCommands))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end())
    return std::nullopt;
  return "no command of " + app.get_name() + " is called '" + argv[1] + "'" +
         nearestOf(argv[1], names);
}

/// Returns the error that an option got too few or too many values. `text` is
/// the message of CLI11, which begins with "--name:".
static std::string valueCountText(const CLI::App &app,
                                  const std::string &text) {
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option *option = runtime::findOption(app, name);
  if (!option)
    return text;
  const int most = option->get_items_expected_max();
  const size_t got = option->count();
  if (most == 1 && got > 1)
    return name + ": takes one value, but is given " + counted(got, "time");
  return name + ": takes " +
         (most == 1 ? "one value" : runtime::countText(most, "value")) +
         ", got " + (got == 0 ? "none" : std::to_string(got));
}

/// Returns "; NAME takes no value" if a word of the command line follows a flag
/// NAME, and otherwise an empty text.
static std::string flagBefore(const CLI::App &app, const std::string &word,
                              int argc, const char *const *argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i - 1];
    const CLI::Option *option =
        name.starts_with("-") ? runtime::findOption(app, name) : nullptr;
    if (argv[i] == word && option && option->get_items_expected_max() == 0)
      return "; " + name + " takes no value";
  }
  return "";
}

/// Returns the error that a command takes fewer arguments.
static std::string surplusText(const CLI::App &app, int argc,
                               const char *const *argv) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty())
    return "there are too many arguments";
  const std::string first = "'" + words.front() + "'";
  return words.size() == 1
             ? first + " is one argument too many" +
                   flagBefore(app, words.front(), argc, argv)
             : first + " and " +
                   runtime::countText(words.size() - 1, "further argument") +
                   " are too many; a pattern with '*' needs quotes";
}

std::optional<std::string> tool::findSingleHyphen(const CLI::App &app, int argc,
                                                  const char *const *argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (name.size() > 2 && name[0] == '-' && name[1] != '-' &&
        runtime::findOption(app, "-" + name))
      return "no option is called " + name + "; did you mean -" + name + "?";
  }
  return std::nullopt;
}

std::string tool::usageErrorText(const CLI::App &app,
                                 const CLI::ParseError &error, int argc,
                                 const char *const *argv) {
  std::string text = inLowerCase(error.what());
  if (auto divided = findDividedValue(app, argc, argv))
    return *divided;
  // CLI11 tells first what is missing, but a mistyped word is the cause.
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
  case CLI::ExitCodes::ExtrasError:
  case CLI::ExitCodes::RequiredError:
    if (auto command = findUnknownSubcommand(app, argc, argv))
      return *command;
    if (auto unknown = findUnknownOption(app, argc, argv))
      return *unknown;
    if (auto missing = findMissingOption(app, argc, argv))
      return *missing;
    return app.remaining_size() > 0 ? surplusText(app, argc, argv) : text;
  case CLI::ExitCodes::ArgumentMismatch:
    return valueCountText(app, text);
  default:
    return text;
  }
}
