//===- HelpText.h - a command's help, wrapped to the terminal -------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H
#define PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H

#include "runtime/engine/options/CommandPage.h"

#include <cstddef>
#include <string>

namespace pcc::runtime {

/// Returns the width of lines for text on stdout: the number in the environment
/// variable COLUMNS, else the width of the terminal, else 80. At least 40.
size_t textWidth();

/// Wraps a text to lines of at most `width` columns, after the lines of each
/// paragraph are joined. A line that begins with spaces is an exception: it is
/// joined with no other line, and keeps its spaces. If it is longer than
/// `width`, it continues in the next lines. If it is a pcc command, a backslash
/// then ends each of its lines but the last.
std::string wrapped(const std::string &text, size_t width);

/// Returns a list of entries in two columns; no line is longer than `width`.
std::string listOf(const std::vector<PageEntry> &entries, size_t width);

/// Returns the text of --help; no line is longer than `width`. The section
/// "Commands" comes before the examples, all others follow them.
std::string helpText(const CommandPage &page, size_t width);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H
