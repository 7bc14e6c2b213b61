//===- Lines.h - the lines of a text --------------------------------------===//

#ifndef PCC_TEST_RUNTIME_PROGRAM_LINES_H
#define PCC_TEST_RUNTIME_PROGRAM_LINES_H

#include <sstream>
#include <string>
#include <vector>

namespace pcc::test {

/// Returns the lines of `text`, without line breaks.
inline std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_PROGRAM_LINES_H
