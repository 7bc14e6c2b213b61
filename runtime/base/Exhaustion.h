//===- Exhaustion.h - errors for exhausted memory and threads -------------===//

#ifndef PCC_RUNTIME_BASE_EXHAUSTION_H
#define PCC_RUNTIME_BASE_EXHAUSTION_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the error that reports a failed allocation of memory. The exit code
/// is 13. A note below the message says how much address space this process
/// uses and, if it is limited (ulimit -v), how much the process may use.
Status outOfMemory();

/// Returns the error that reports that a thread or process could not be
/// started. The exit code is 13. `claim` says what could not be started, such
/// as "cannot start a thread for rank 2"; `error` is the system's error number.
/// A note below the message says how many processes and threads the user runs,
/// and how many the user may run (ulimit -u).
Status cannotStart(const std::string &claim, int error);

/// Returns `status` with a note, such as "the user runs 980 processes and
/// threads, and may run 1000 (ulimit -u)". Returns `status` without the note if
/// the user may start 64 or more further processes and threads, or if the limit
/// is not known.
Status withProcessLimit(Status status);

/// Returns whether this process cannot get a further MiB of memory. May be
/// called from a signal handler.
bool isMemoryExhausted();

/// Returns whether a limit (RLIMIT_AS, RLIMIT_DATA) bounds the memory of this
/// process.
bool isMemoryLimited();

/// Returns the error for the current exception. Call this in a terminate
/// handler (std::set_terminate). The exit code depends on the exception's type:
///
///   std::bad_alloc      13, with the text of outOfMemory()
///   std::system_error   13, with the text of cannotStart() if no thread can
///                       be started
///   others              1
Status errorOfException();

/// Installs a handler for uncaught exceptions, such as std::bad_alloc. The
/// handler:
///
/// 1. calls `report` with errorOfException();
/// 2. deletes all unfinished files and folders (ScopedFolder::removeAll());
/// 3. ends the process with the error's exit code.
void reportExhaustion(void (*report)(const Status &));

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_EXHAUSTION_H
