//===- ShellWord.h - words of commands that messages suggest --------------===//

#ifndef PCC_STATUS_SHELLWORD_H
#define PCC_STATUS_SHELLWORD_H

#include "status/PrintableText.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace pcc {

/// Returns a word of a command line, quoted for a shell if it needs quotes. A
/// word with characters that control a terminal becomes $'…' with escapes,
/// which bash, zsh, ksh and POSIX 2024 read, so that the word can be printed.
inline std::string shellWord(std::string_view word) {
  const bool isPlain =
      !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
               (c >= 'a' && c <= 'z') ||
               std::string_view("_-./=,:+@").find(c) != std::string_view::npos;
      });
  if (isPlain)
    return std::string(word);
  const bool isPrintable = printable(word) == word;
  std::string text;
  for (char c : word)
    if (c == '\'')
      text += isPrintable ? "'\\''" : "\\'";
    else
      text += c == '\\' && !isPrintable ? "\\\\" : std::string(1, c);
  return isPrintable ? "'" + text + "'" : "$'" + printable(text) + "'";
}

} // namespace pcc

#endif // PCC_STATUS_SHELLWORD_H
