//===- Console.cpp - messages and argument parsing of the tool ------------===//

#include "tools/pcc/Console.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/engine/options/HelpText.h"
#include "runtime/engine/options/StrictParse.h"
#include "status/PrintableText.h"
#include "status/Suggestions.h"
#include "tools/pcc/CommandTable.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace pcc;

/// Whether the last line of the terminal is a progress line.
static bool progressShown = false;

/// Returns whether the terminal has no control sequences (TERM=dumb).
static bool isDumb() {
  const char *terminal = std::getenv("TERM");
  return terminal && std::string_view(terminal) == "dumb";
}

bool tool::showsProgress() {
  struct stat info = {};
  const bool isPiped = fstat(STDOUT_FILENO, &info) == 0 &&
                       (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  return isatty(STDERR_FILENO) && !isDumb() && !isPiped;
}

bool tool::isStdoutTerminal() { return isatty(STDOUT_FILENO); }

void tool::showProgress(const std::string &what) {
  fprintf(stderr, "\r\033[K%s", printable(what).c_str());
  progressShown = true;
}

/// Removes the progress line, so that a message gets a line of its own.
static void clearProgress() {
  if (progressShown)
    fprintf(stderr, "\r\033[K");
  progressShown = false;
}

/// Replaces line breaks by spaces, because every message is one line, and
/// escapes the control characters that names in files may have.
static std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n' || c == '\r')
      c = ' ';
  return printable(text);
}

/// Returns whether the user wants no color (https://no-color.org).
static bool refusesColor() {
  const char *refusal = std::getenv("NO_COLOR");
  return isDumb() || (refusal && *refusal);
}

void tool::showTrainingLine(const runtime::TrainingLine &line,
                            bool showsOthers) {
  const size_t width = runtime::textWidth();
  if (!line.isKept) {
    if (showsOthers)
      showProgress(textOf(line, width - 1, /*hasColor=*/false));
    return;
  }
  clearProgress();
  fprintf(stdout, "%s\n", textOf(line, width - 1, !refusesColor()).c_str());
  fflush(stdout);
}

void tool::printNote(const std::string &note) {
  clearProgress();
  fprintf(stderr, "pcc: note: %s\n", oneLine(note).c_str());
}

void tool::printResult(const std::string &text) {
  clearProgress();
  fprintf(stderr, "%s\n", printableLines(text).c_str());
}

int tool::reportStatus(const Status &status) {
  clearProgress();
  if (status.ok())
    return Done;
  fprintf(stderr, "pcc: error: %s\n", oneLine(status.message()).c_str());
  for (const std::string &note : status.notes())
    fprintf(stderr, "note: %s\n", oneLine(note).c_str());
  return status.code();
}

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

/// Returns whether `app` or a subcommand has the option `name`.
static bool hasOption(const CLI::App &app, const std::string &name) {
  const auto commands = app.get_subcommands(allCommands);
  return app.get_option_no_throw(name) ||
         std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App *command) {
                       return hasOption(*command, name);
                     });
}

/// Returns the error of the first word on the command line that begins with a
/// hyphen and is no option of `app`; std::nullopt if there is none.
static std::optional<std::string>
findUnknownOption(const CLI::App &app, int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (word == "--")
      return std::nullopt;
    if (!name.starts_with("-") || name == "-" || hasOption(app, name))
      continue;
    for (const auto &[other, own] : synonyms)
      if (name == other)
        return "no option is called " + name + "; did you mean " + own + "?";
    return "no option is called " + name + didYouMean(name, optionNames(app));
  }
  return std::nullopt;
}

void tool::addStandardOptions(CLI::App &app) {
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", "pcc " PCC_VERSION,
                       "print the version and exit");
  for (CLI::App *command : app.get_subcommands(nullptr))
    command->set_help_flag("-h,--help", "print this help and exit");
}

/// Returns the text of --help, which may stand behind a subcommand.
static std::string helpOf(const CLI::App &app) {
  const auto selected = app.get_subcommands();
  return selected.empty()
             ? runtime::helpText(tool::describe(app), runtime::textWidth())
             : helpOf(*selected.front());
}

/// CLI11 reports every result except success by an exception. This function
/// catches these exceptions.
tool::ParsedArguments tool::parseArguments(CLI::App &app, int argc,
                                           const char *const *argv) {
  try {
    addStandardOptions(app);
    runtime::parseStrictly(app, argc, argv);
    return {};
  } catch (const CLI::CallForVersion &version) {
    return {.text = version.what() + std::string("\n")};
  } catch (const CLI::CallForHelp &) {
    return {.text = helpOf(app)};
  } catch (const CLI::ParseError &error) {
    std::string text = inLowerCase(error.what());
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
      text = findUnknownOption(app, argc, argv).value_or(text);
    if (error.get_exit_code() == Unsupported)
      return {Status::error(Unsupported, text)};
    return {
        Status::error(WrongUsage, text,
                      {"'" + app.get_name() + " --help' lists the options"})};
  }
}

std::optional<int> tool::finishEarly(const ParsedArguments &reading) {
  if (!reading.status.ok())
    return reportStatus(reading.status);
  if (reading.text.empty())
    return std::nullopt;
  return reportStatus(printText(reading.text));
}

Status tool::printText(const std::string &text) {
  Status status = runtime::writeAll(STDOUT_FILENO, text, "stdout");
  if (status.failed() && errno == EPIPE) {
    // Ends as every command of a shell's pipeline does.
    std::signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return status;
}
