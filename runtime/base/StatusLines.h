//===- StatusLines.h - an error as lines for another process --------------===//

#ifndef PCC_RUNTIME_BASE_STATUSLINES_H
#define PCC_RUNTIME_BASE_STATUSLINES_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the message of `status` as one line, followed by a line per note.
/// Line breaks within them become spaces. The exit code is not included.
std::string linesOf(const Status &status);

/// Returns the error with exit code `code` whose message is the first line of
/// `lines` and whose notes are the others: the reverse of linesOf(). A text
/// that was cut gives the lines that are left. `code` must not be Done.
Status statusOfLines(ExitCode code, const std::string &lines);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STATUSLINES_H
