//===- LauncherOutput.cpp - filter for the stderr of a launcher -----------===//

#include "runtime/launch/report/LauncherOutput.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace pcc::runtime {

static constexpr std::string_view progressPrefix = "pcc-progress: ";
static constexpr std::string_view stepPrefix = "pcc-step: ";
static constexpr std::string_view tablePrefix = "pcc-table: ";

/// If a rank wrote `line` for the user, returns the text to show; otherwise
/// std::nullopt. A line that begins with "pcc:" or "note:" is shown unchanged.
/// A line that begins with "pcc-table: ", a row of a table, is shown without
/// this prefix.
static std::optional<std::string_view> shownOf(std::string_view line) {
  if (line.starts_with(tablePrefix))
    return line.substr(tablePrefix.size());
  if (line.starts_with("pcc:") || line.starts_with("note:"))
    return line;
  return std::nullopt;
}

std::string tableLines(const std::string &table) {
  std::string lines, line;
  std::istringstream rest(table);
  while (std::getline(rest, line))
    lines += std::string(tablePrefix) + line + "\n";
  return lines;
}

std::string progressLine(const std::string &what) {
  return std::string(progressPrefix) + what + "\n";
}

std::string trainingStepLine(const TrainingLine &line) {
  return std::string(stepPrefix) + packed(line) + "\n";
}

std::vector<TrainingLine> LauncherOutput::takeSteps() {
  return std::exchange(steps, {});
}

std::optional<std::string> LauncherOutput::takeProgress() {
  return std::exchange(progress, std::nullopt);
}

void LauncherOutput::takeLine(std::string line, std::string &passed) {
  constexpr size_t mostKept = 200;
  if (line.starts_with(progressPrefix)) {
    progress = line.substr(progressPrefix.size());
    return;
  }
  if (line.starts_with(stepPrefix))
    if (const auto step = unpacked(line.substr(stepPrefix.size()))) {
      steps.push_back(*step);
      return;
    }
  if (const auto shown = shownOf(line)) {
    passed += printable(std::string(*shown)) + "\n";
    return;
  }
  keptLines.push_back(std::move(line));
  if (keptLines.size() > mostKept)
    keptLines.pop_front();
}

std::string LauncherOutput::take(std::string_view text) {
  std::string passed;
  for (char character : text) {
    if (character != '\n') {
      partialLine += character;
      continue;
    }
    takeLine(std::move(partialLine), passed);
    partialLine.clear();
  }
  return passed;
}

std::string LauncherOutput::takeRest() {
  return partialLine.empty() ? std::string() : take("\n");
}

/// Searches `line` for the text `words`, and returns the number that follows
/// this text. For example, if `words` is "exited on signal " and `line` is
/// "rank 2 exited on signal 9", returns 9. Returns std::nullopt if `line` does
/// not contain `words`, or if no number follows.
static std::optional<int> numberAfter(const std::string &words,
                                      const std::string &line) {
  const size_t found = line.find(words);
  if (found == std::string::npos)
    return std::nullopt;
  int number = 0;
  std::istringstream rest(line.substr(found + words.size()));
  return rest >> number ? std::optional(number) : std::nullopt;
}

/// Parses `line` if it contains a message of mpirun about a rank that a signal
/// has killed. An example is "process rank 2 with PID 4711 on node n1 exited on
/// signal 9 (Killed)". The result is then rank 2 with signal 9. Returns
/// std::nullopt if `line` contains no such message.
static std::optional<LostRank> parseSignal(const std::string &line) {
  const auto rank = numberAfter("process rank ", line);
  const auto signal = numberAfter("exited on signal ", line);
  if (!rank || !signal)
    return std::nullopt;
  return LostRank{.rank = *rank, .signal = *signal};
}

/// `noise` contains lines that mpirun and the ranks wrote to stderr. These
/// lines can contain messages about several ranks. If a message says that a
/// signal killed a rank, returns this rank, even if an earlier message says
/// that another rank exited. The kill of one rank can be the reason why another
/// rank exited.
std::optional<LostRank> findLostRank(const std::deque<std::string> &noise) {
  std::optional<LostRank> exited;
  // mpirun may divide its sentence about a killed rank into two lines. For
  // example, the first line ends with "process rank 2 with PID 4711 on node
  // n1", and the second line begins with "exited on signal 9". Therefore join
  // each line to the previous line before the search.
  std::string previous;
  for (const std::string &line : noise) {
    if (auto killed = parseSignal(previous + " " + line))
      return killed;
    const std::string words =
        line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (words.starts_with("Process name: [["))
      if (const auto rank = numberAfter("],", words))
        exited = LostRank{.rank = *rank};
    if (exited && words.starts_with("Exit code:"))
      exited->exitCode =
          numberAfter("Exit code:", words).value_or(exited->exitCode);
    previous = line;
  }
  return exited && exited->exitCode != 0 ? exited : std::nullopt;
}

/// Returns whether `line` contains a letter or a digit. mpirun writes lines
/// such as "--------" before and after its messages. These lines contain
/// neither.
static bool hasWords(const std::string &line) {
  return std::any_of(line.begin(), line.end(), [](unsigned char character) {
    return std::isalnum(character);
  });
}

/// Returns whether `line` is a detail of a message of mpirun. For example,
/// "  Component: ucx" is a detail. A detail begins with a space, and contains a
/// value after ": ".
static bool isDetail(const std::string &line) {
  const size_t colon = line.find(": ");
  return colon != std::string::npos && line.starts_with(' ') &&
         line.find_first_not_of(' ', colon + 1) != std::string::npos;
}

std::string firstStatement(const std::deque<std::string> &noise) {
  constexpr int mostLines = 8;
  auto line = std::find_if(noise.begin(), noise.end(), hasWords);
  std::string statement;
  for (int i = 0; i < mostLines && line != noise.end(); ++i, ++line) {
    if (!hasWords(*line)) {
      // The paragraph ends here, because this line contains neither a letter
      // nor a digit. Go to the first line of the next paragraph. Add the next
      // paragraph to `statement` in two cases: if `statement` ends with a
      // colon, or if the next paragraph begins with a detail, such as
      // "  Component: ucx".
      line = std::find_if(line, noise.end(), hasWords);
      if (line == noise.end() || !(statement.ends_with(':') || isDetail(*line)))
        break;
    }
    const size_t first = line->find_first_not_of(' ');
    statement += (statement.empty() ? "" : " ") + line->substr(first);
  }
  return statement;
}

} // namespace pcc::runtime
