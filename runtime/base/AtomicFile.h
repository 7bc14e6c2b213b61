//===- AtomicFile.h - atomic replacement of a file ------------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Writes `text` to `path`. If `path` is a regular file or does not exist, the
/// function writes `text` to a new file, and then renames the new file to
/// `path`. The rename is atomic. A process that opens `path` therefore sees
/// either the whole old file or the whole new file.
///
/// - If `path` is a symbolic link to a regular file, the function replaces the
///   regular file. The link stays.
/// - If `path` is a device or a pipe, such as /dev/stdout, the function writes
///   `text` to the device or pipe. The device or pipe is not replaced.
/// - The function does not sync the new file to disk. If the machine crashes,
///   the content of the new file may be lost.
///
/// On failure, the function returns an error with exit code 7. A regular file
/// at `path` is then unchanged.
Status writeFileAtomically(const std::string &path, std::string_view text);

/// Writes all of `text` to the open file descriptor `file`. `path` is the path
/// of the file, which appears in the message of an error. Returns an error with
/// exit code 7 in each of these cases:
///
/// - A write fails. errno is the cause of the failure. For example, errno is
///   EPIPE if `file` is a pipe and no process has the pipe open for reading.
/// - `file` is not a regular file, for example a pipe, and has accepted no byte
///   for `seconds` seconds. errno is ETIMEDOUT. A pipe accepts no byte while
///   the pipe is full.
Status writeAll(int file, std::string_view text, const std::string &path,
                double seconds = 1e9);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_ATOMICFILE_H
