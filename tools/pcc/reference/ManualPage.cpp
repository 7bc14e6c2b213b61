//===- ManualPage.cpp - manual pages of commands --------------------------===//

#include "tools/pcc/reference/ManualPage.h"
#include "tools/pcc/reference/Topics.h"

#include <algorithm>
#include <sstream>

using namespace pcc;
using namespace pcc::tool;
using namespace pcc::runtime;

/// Escapes a text for roff: backslashes, hyphens, quotes, and a dot or an
/// apostrophe at the beginning of a line.
static std::string roff(const std::string &text) {
  std::string escaped;
  for (char letter : text) {
    if ((letter == '.' || letter == '\'') &&
        (escaped.empty() || escaped.back() == '\n'))
      escaped += "\\&";
    switch (letter) {
    case '\\':
      escaped += "\\e";
      break;
    case '-':
      escaped += "\\-";
      break;
    case '\'':
      escaped += "\\(aq";
      break;
    case '`':
      escaped += "\\(aq";
      break;
    case '"':
      escaped += "\\(dq";
      break;
    case '^':
      escaped += "\\(ha";
      break;
    case '~':
      escaped += "\\(ti";
      break;
    default:
      escaped += letter;
    }
  }
  return escaped;
}

/// Returns `text` in capital letters, as titles of manual pages are.
static std::string inCapitals(std::string text) {
  for (char &letter : text)
    letter = char(std::toupper((unsigned char)letter));
  return text;
}

std::string tool::manualName(const std::string &command) {
  std::string name = command;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Returns paragraphs, and command lines as they are.
static std::string paragraphs(const std::string &text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  return result;
}

/// Returns one option or argument with its description.
static std::string entryText(const PageEntry &entry) {
  std::string head;
  for (const std::string &name : entry.names)
    head += (head.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (entry.hasValue())
    head += " \\fI" + roff(entry.value) + "\\fR";
  return ".TP\n" + head + "\n" + roff(entry.meaning) + "\n";
}

static std::string sectionTitle(const std::string &title) {
  return ".SH " + roff(inCapitals(title)) + "\n";
}

/// Returns the exit codes as a list.
static std::string exitStatus() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitCodeRow &row : exitCodes())
    text += ".TP\n\\fB" + std::to_string(row.code) + "\\fR\n" +
            roff(row.meaning) + "\n";
  return text;
}

std::string tool::manualPage(const CommandPage &page,
                             const std::vector<std::string> &related) {
  const std::string name = manualName(page.name);
  const std::string summary = page.summary();
  std::string text = ".TH " + roff(inCapitals(name)) + " 1 \"\" \"pcc " +
                     PCC_VERSION + "\" \"pcc\"\n.SH NAME\n" + roff(name) +
                     " \\- " + roff(summary) + "\n.SH SYNOPSIS\n\\fB" +
                     roff(page.name) + "\\fR " + roff(page.usage) + "\n";
  if (page.about.size() > summary.size())
    text +=
        ".SH DESCRIPTION\n" + paragraphs(page.about.substr(summary.size() + 2));
  for (const PageSection &section : page.sections) {
    text += section.entries.empty() ? "" : sectionTitle(section.title);
    for (const PageEntry &entry : section.entries)
      text += entryText(entry);
  }
  if (!page.examples.empty())
    text += ".SH EXAMPLES\n.EX\n";
  for (const std::string &example : page.examples)
    text += roff(example) + "\n";
  text += (page.examples.empty() ? "" : ".EE\n") + exitStatus();
  text += ".SH SEE ALSO\n";
  for (size_t i = 0; i < related.size(); ++i)
    text += (i == 0 ? "\\fB" : ",\n\\fB") + roff(related[i]) + "\\fR(1)";
  return text + "\n";
}
