//===- StatusLines.h - an error as lines for another process --------------===//

#ifndef PCC_RUNTIME_BASE_STATUSLINES_H
#define PCC_RUNTIME_BASE_STATUSLINES_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the message of `status` as one line, followed by one line per note.
/// Line breaks within the message or a note become spaces. The exit code is not
/// included.
std::string linesOf(const Status &status);

/// Converts the text of linesOf() back to an error with exit code `code`: the
/// first line becomes the message, each further line a note. `lines` may be
/// truncated. `code` must not be Done (success).
Status statusOfLines(ExitCode code, const std::string &lines);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STATUSLINES_H
