//===- Console.cpp - messages and argument parsing of the tool ------------===//

#include "tools/pcc/Console.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/TextTable.h"
#include "runtime/engine/options/HelpText.h"
#include "runtime/engine/options/StrictParse.h"
#include "status/PrintableText.h"
#include "tools/pcc/CommandTable.h"
#include "tools/pcc/UsageErrors.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

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
  // A longer line would leave its beginning behind, one row above.
  const std::string line = printable(what).substr(0, runtime::textWidth() - 1);
  fprintf(stderr, "\r\033[K%s", line.c_str());
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
  const bool hasColor = isatty(STDERR_FILENO) && !refusesColor();
  fprintf(stderr, "pcc: %serror:%s %s\n", hasColor ? "\033[1;31m" : "",
          hasColor ? "\033[0m" : "", oneLine(status.message()).c_str());
  for (const std::string &note : status.notes())
    fprintf(stderr, "note: %s\n", oneLine(note).c_str());
  return status.code();
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
  const auto refuse = [&app](const std::string &text) {
    return Status::error(WrongUsage, text,
                         {"'" + app.get_name() + " --help' lists the options"});
  };
  try {
    addStandardOptions(app);
    if (const auto text = findSingleHyphen(app, argc, argv))
      return {refuse(*text)};
    runtime::parseStrictly(app, argc, argv);
    return {};
  } catch (const CLI::CallForVersion &version) {
    return {.text = version.what() + std::string("\n")};
  } catch (const CLI::CallForHelp &) {
    return {.text = helpOf(app)};
  } catch (const CLI::ParseError &error) {
    const std::string text = usageErrorText(app, error, argc, argv);
    if (error.get_exit_code() == Unsupported)
      return {Status::error(Unsupported, text)};
    return {refuse(text)};
  }
}

std::optional<int> tool::finishEarly(const ParsedArguments &reading) {
  if (!reading.status.ok())
    return reportStatus(reading.status);
  if (reading.text.empty())
    return std::nullopt;
  return reportStatus(printText(reading.text));
}

void tool::endWithoutReader() {
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  if (poll(&output, 1, 0) <= 0 || !(output.revents & POLLERR))
    return;
  std::signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

Status tool::printText(const std::string &text) {
  clearProgress();
  Status status = runtime::writeAll(STDOUT_FILENO, text, "stdout");
  if (status.failed())
    endWithoutReader();
  return status;
}
