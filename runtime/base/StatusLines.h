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

/// Converts the text `lines` into an error. linesOf() has made the text from
/// the same error, usually in another process. The first line of `lines`
/// becomes the message of the error. Each line after it becomes one note of the
/// error. For example, "disk is full\nfile a.pcc\n" gives the message "disk is
/// full" and the note "file a.pcc".
///
/// The text does not contain the exit code of the error. The error gets the
/// exit code `code`. `code` must not be Done, which is the exit code of
/// success.
///
/// The end of `lines` may be missing, for example because the text was too long
/// for a network message. The function then converts only the text in `lines`.
Status statusOfLines(ExitCode code, const std::string &lines);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STATUSLINES_H
