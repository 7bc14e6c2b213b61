//===- AtomicFile.h - atomic replacement of a file ------------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Replaces the file at `path` by one that holds `text`, in one step of the
/// file system (Unfinished.h). A reader, and a later command if this one is
/// killed, sees either the previous content of `path` or all of `text`. With
/// several writers at once, the last one to finish counts.
///
/// If `path` is a symbolic link, the file that the link leads to is replaced.
/// If it is a device or a pipe, such as /dev/stdout, `text` is written to it.
///
/// The file is not synced, so it may be lost if the machine crashes. Returns
/// exit code 7 if writing fails; a regular file at `path` is unchanged then.
Status writeFileAtomically(const std::string &path, std::string_view text);

/// Writes all of `text` to the file descriptor `file`. Returns exit code 7 with
/// `path` in the message if that fails, or if a pipe takes no byte for
/// `seconds`. The caller may read errno after an error; it is EPIPE if nobody
/// reads the pipe any more.
Status writeAll(int file, std::string_view text, const std::string &path,
                double seconds = 1e9);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_ATOMICFILE_H
