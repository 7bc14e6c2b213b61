//===- HelpText.h - a command's help, wrapped to the terminal -------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H
#define PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H

#include "runtime/engine/options/CommandPage.h"

#include <cstddef>
#include <string>

namespace pcc::runtime {

/// Wraps a text to lines of at most `width` columns. First joins the lines of
/// each paragraph. A line that begins with spaces is an exception: it is not
/// joined with other lines, and keeps its spaces. If the exception is longer
/// than `width`, it continues in the next lines. If it is also a pcc command, a
/// backslash ends each of these lines except the last.
std::string wrapped(const std::string &text, size_t width);

/// Returns a list of entries in two columns; no line is longer than `width`.
std::string listOf(const std::vector<PageEntry> &entries, size_t width);

/// Returns the text of --help; no line is longer than `width`. The section
/// "Commands" comes before the examples. All other sections come after the
/// examples.
std::string helpText(const CommandPage &page, size_t width);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_HELPTEXT_H
