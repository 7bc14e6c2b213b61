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

/// Writes all of `text` to the file descriptor `file`. Returns exit code 7 if a
/// write fails, or if a pipe accepts no byte for `seconds`. The message
/// contains `path`. errno keeps the cause; EPIPE means that the pipe has no
/// reader.
Status writeAll(int file, std::string_view text, const std::string &path,
                double seconds = 1e9);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_ATOMICFILE_H
