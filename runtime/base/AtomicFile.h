//===- AtomicFile.h - atomic replacement of a file ------------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Opens the file, pipe or device at `path` for writing, with the further
/// `flags` of open(). If `path` is a pipe without a reader, waits at most five
/// seconds for a reader. Returns an error with exit code 7 if the file cannot
/// be opened. Opens the descriptor `file` with O_NONBLOCK, so write to it with
/// writeAll(), which waits while a pipe is full.
Status openOutput(const std::string &path, int flags, int &file);

/// Returns whether there is a device, a pipe or the like at `path`, such as
/// /dev/stdout. writeFileAtomically() writes to it, and does not replace it.
bool isWrittenInPlace(const std::string &path);

/// Replaces the file at `path` by a file with the content `text`. A process
/// that opens `path` sees either the whole old file or the whole new file. If
/// `path` is a symbolic link to a regular file, the link stays, and the regular
/// file is replaced. A device or a pipe, such as /dev/stdout, is not replaced.
/// The function writes `text` to it. The path "-" stands for stdout.
///
/// The new file is not synced to disk, so a crash of the machine can lose its
/// content. On failure, the function returns an error with exit code 7, and a
/// regular file at `path` is unchanged.
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
