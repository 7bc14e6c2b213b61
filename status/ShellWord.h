//===- ShellWord.h - words of commands that messages suggest --------------===//

#ifndef PCC_STATUS_SHELLWORD_H
#define PCC_STATUS_SHELLWORD_H

#include <algorithm>
#include <string>
#include <string_view>

namespace pcc {

/// Returns a word of a command line, quoted for a POSIX shell if it needs
/// quotes.
inline std::string shellWord(std::string_view word) {
  const bool isPlain =
      !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
               (c >= 'a' && c <= 'z') ||
               std::string_view("_-./=,:+@").find(c) != std::string_view::npos;
      });
  if (isPlain)
    return std::string(word);
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

} // namespace pcc

#endif // PCC_STATUS_SHELLWORD_H
