//===- AtomicFile.h - atomic replacement of a file ------------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Replaces the file at `path` by one that contains `text`, atomically. A
/// reader sees either the whole old file or the whole new file.
///
/// - A symbolic link at `path` is followed, and its target is replaced.
/// - A device or pipe at `path`, such as /dev/stdout, receives `text` instead.
/// - The new file is not synced: a crash of the machine may lose it.
///
/// Returns exit code 7 on failure. The old file is then unchanged.
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
