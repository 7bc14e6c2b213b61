//===- StatusLines.cpp - an error as lines for another process ------------===//

#include "runtime/base/StatusLines.h"

#include <algorithm>
#include <cassert>
#include <sstream>

namespace pcc::runtime {

static std::string asLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

std::string linesOf(const Status &status) {
  std::string lines = asLine(status.message());
  for (const std::string &note : status.notes())
    lines += asLine(note);
  return lines;
}

Status statusOfLines(ExitCode code, const std::string &lines) {
  assert(code != Done && "an error has an exit code");
  std::istringstream text(lines);
  std::string line;
  std::getline(text, line);
  Status status = Status::error(code, line);
  while (std::getline(text, line))
    status.addNote(line);
  return status;
}

} // namespace pcc::runtime
