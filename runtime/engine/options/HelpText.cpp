//===- HelpText.cpp - a command's help, wrapped to the terminal -----------===//

#include "runtime/engine/options/HelpText.h"

#include <sstream>

namespace pcc::runtime {

/// Splits a text at spaces. With `keepsQuotes`, spaces between single quotes do
/// not split it.
static std::vector<std::string> wordsOf(const std::string &text,
                                        bool keepsQuotes) {
  std::vector<std::string> words;
  bool isQuoted = false, isInWord = false;
  for (char letter : text) {
    if (keepsQuotes && letter == '\'')
      isQuoted = !isQuoted;
    const bool isSpace = letter == ' ' && !isQuoted;
    if (!isSpace && !isInWord)
      words.emplace_back();
    isInWord = !isSpace;
    if (isInWord)
      words.back() += letter;
  }
  return words;
}

/// Distributes words over lines of at most `width` columns. A word that is
/// longer than a line is cut.
static std::vector<std::string> linesOf(const std::vector<std::string> &words,
                                        size_t width) {
  std::vector<std::string> lines = {""};
  for (const std::string &word : words) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    while (lines.back().size() > width) {
      std::string rest = lines.back().substr(width);
      lines.back().resize(width);
      lines.push_back(std::move(rest));
    }
  }
  return lines;
}

/// Returns the words of a command, with each option and the word after it as
/// one word, such as "--dim batch=8". Spaces between single quotes do not split
/// the command.
static std::vector<std::string> partsOf(const std::string &command) {
  std::vector<std::string> parts;
  bool follows = false;
  for (const std::string &word : wordsOf(command, /*keepsQuotes=*/true)) {
    const bool isOption = word.starts_with("-");
    if (follows && !isOption)
      parts.back() += " " + word;
    else
      parts.push_back(word);
    follows = isOption && word.find('=') == std::string::npos;
  }
  return parts;
}

/// Breaks `line` into lines of at most `width` columns, at spaces outside of
/// single quotes, and not between an option and its value. If `line` is a pcc
/// command, each line except the last one ends with a backslash, so that a
/// shell reads all lines as one command.
static std::string wrappedCommand(const std::string &line, size_t width) {
  const std::string indent(line.find_first_not_of(' '), ' ');
  if (line.size() <= width)
    return line + "\n";
  const size_t inner = width - indent.size() - 6;
  const bool isCommand = line.starts_with(indent + "pcc ");
  const std::string end = isCommand ? " \\\n" : "\n";
  std::string text;
  for (const std::string &part : linesOf(partsOf(line), inner))
    text += (text.empty() ? indent : end + indent + "    ") + part;
  return text + "\n";
}

std::string wrapped(const std::string &text, size_t width) {
  std::string result, paragraph;
  const auto flush = [&] {
    if (!paragraph.empty())
      for (const std::string &line :
           linesOf(wordsOf(paragraph, /*keepsQuotes=*/false), width))
        result += line + "\n";
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool isIndented = line.starts_with(" ");
    if (!isIndented && !line.empty()) {
      paragraph += line + " ";
      continue;
    }
    flush();
    result += isIndented ? wrappedCommand(line, width) : "\n";
  }
  flush();
  return result;
}

std::string listOf(const std::vector<PageEntry> &entries, size_t width) {
  // With few columns, each description stands below its entry.
  const bool isNarrow = width < 60;
  const size_t column = isNarrow ? 6 : 28;
  std::string text;
  for (const PageEntry &entry : entries) {
    std::vector<std::string> lines = linesOf({entry.head()}, width - 4);
    std::string head = "  " + lines.front();
    for (size_t i = 1; i < lines.size(); ++i)
      head += "\n    " + lines[i];
    const bool fits =
        !isNarrow && lines.size() == 1 && head.size() + 2 <= column;
    text += head + (fits ? std::string(column - head.size(), ' ') : "\n");
    bool isFirst = fits;
    for (const std::string &line : linesOf(
             wordsOf(entry.meaning, /*keepsQuotes=*/false), width - column)) {
      text += (isFirst ? "" : std::string(column, ' ')) + line + "\n";
      isFirst = false;
    }
  }
  return text;
}

/// Returns the text of a section of --help: its title and its entries. The
/// first letter of the title becomes a lower-case letter: "Commands" gives the
/// line "commands:". Returns an empty string if the section has no entries.
static std::string sectionText(const PageSection &section, size_t width) {
  if (section.entries.empty())
    return "";
  std::string title = section.title;
  title[0] = char(std::tolower((unsigned char)title[0]));
  return "\n" + title + ":\n" + listOf(section.entries, width);
}

std::string helpText(const CommandPage &page, size_t width) {
  std::string text = "usage:\n" +
                     wrapped("  " + page.name + " " + page.usage, width) +
                     "\n" + wrapped(page.about, width);
  for (const PageSection &section : page.sections)
    if (section.title == "Commands")
      text += sectionText(section, width);
  if (!page.examples.empty())
    text += "\nexamples:\n";
  for (const std::string &example : page.examples)
    text += wrapped("  " + example, width);
  for (const PageSection &section : page.sections)
    if (section.title != "Commands")
      text += sectionText(section, width);
  return page.footer.empty() ? text : text + "\n" + wrapped(page.footer, width);
}

} // namespace pcc::runtime
