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

/// Returns the text of the note of outOfMemory(). The text says how much
/// address space this process uses. If the address space is limited (ulimit
/// -v), the text also says how much of it this process may use.
std::string describeMemory();

/// Returns the error that reports that a thread or process could not be
/// started. The exit code is 13. `claim` says what could not be started, such
/// as "cannot start a thread for rank 2"; `error` is the system's error number.
/// If the number is EAGAIN, the cause can be the limit of processes and threads
/// (ulimit -u). The error then has the note of withProcessLimit().
Status cannotStart(const std::string &claim, int error);

/// Returns the error `status`. If the user of this process may start fewer than
/// 64 more processes and threads, the returned error has one more note than
/// `status`. For example, the user runs 980 processes and threads, and the
/// limit of the system is 1000 (ulimit -u). The user may start only 20 more.
/// The note then says "the user runs 980 processes and threads, and may run
/// 1000 (ulimit -u)".
///
/// If the system sets no limit, or if the limit is not known, the returned
/// error has no additional note.
Status withProcessLimit(Status status);

/// Frees memory that reportExhaustion() has reserved, so that an error can be
/// reported although memory is exhausted.
void releaseReservedMemory();

/// Prepares the calling thread for the end of memory, if a limit bounds it (see
/// isMemoryLimited()); does nothing otherwise.
///
/// Loads the library with which exceptions leave functions of glibc, such as
/// std::call_once. glibc loads it for the first such exception, which may be
/// that memory is exhausted, and aborts if it cannot. Also writes to a MiB of
/// the stack: the stack of the main thread grows when it is written to, and the
/// system ends the process with SIGSEGV if it cannot grow.
void prepareForExhaustion();

/// Returns whether this process cannot get another MiB of memory. May be called
/// from a signal handler.
bool isMemoryExhausted();

/// Returns whether a limit (RLIMIT_AS, RLIMIT_DATA) bounds the memory of this
/// process.
bool isMemoryLimited();

/// Converts the current exception into an error. Call this function in a
/// terminate handler (std::set_terminate). The type of the exception determines
/// the exit code and the message of the error:
///
///   exception            exit code   message
///   std::bad_alloc       13          out of memory
///   std::system_error    13          if its code is EAGAIN: cannot start a
///                                    thread; otherwise: the system refuses a
///                                    resource
///   any other type       1           a defect of pcc
Status errorOfException();

/// Installs a terminate handler (std::set_terminate) for the process. The C++
/// runtime calls this handler if an exception, such as std::bad_alloc, is not
/// caught. The handler takes these steps:
///
/// 1. The handler calls errorOfException(), which converts the exception into
///    an error.
/// 2. The handler calls `report` with the error. `report` shows the error to
///    the user.
/// 3. The handler calls ScopedFolder::removeAll(), which deletes all unfinished
///    files and folders.
/// 4. The handler ends the process with the exit code of the error.
///
/// If a limit bounds the memory of the process, the function also installs a
/// handler for SIGSEGV. If a crash happens while memory is exhausted, this
/// handler takes steps 2 to 4 with the error outOfMemory().
void reportExhaustion(void (*report)(const Status &));

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_EXHAUSTION_H
