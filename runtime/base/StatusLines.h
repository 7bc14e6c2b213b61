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

/// Returns an error with exit code `code` and the text `lines`. The first line
/// of `lines` becomes the message of the error. Each further line becomes one
/// note of the error. For example, "disk is full\nfile a.pcc\n" gives the
/// message "disk is full" and the note "file a.pcc".
///
/// Another process has made the text with linesOf(). The end of the text may be
/// missing, for example because the text was too long for a network message.
/// The error then lacks the same text. `code` must not be Done, which is the
/// exit code of success.
Status statusOfLines(ExitCode code, const std::string &lines);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STATUSLINES_H
