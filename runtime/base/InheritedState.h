//===- InheritedState.h - signals and descriptors from the parent ---------===//

#ifndef PCC_RUNTIME_BASE_INHERITEDSTATE_H
#define PCC_RUNTIME_BASE_INHERITEDSTATE_H

#include <csignal>

namespace pcc::runtime {

/// Sets process state that is inherited from the parent process to fixed
/// values. Call this first in main(), before a file is opened or a thread is
/// started. The function prevents these problems:
///
/// - Descriptor 0, 1 or 2 is closed. A file of the program could get that
///   number, and messages to stderr would be written into the file.
/// - The file size is limited (RLIMIT_FSIZE). A write beyond the limit would
///   raise SIGXFSZ. With this function, the write fails (EFBIG).
/// - SIGCHLD is ignored. The exit statuses of child processes would be lost.
void repairInheritedState();

/// Returns the signals among SIGINT, SIGTERM and SIGHUP that can end this
/// process: those neither ignored nor blocked at the first call. For example,
/// nohup starts a process with SIGHUP ignored. Call this function before
/// blocking any of these signals.
sigset_t endingSignals();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_INHERITEDSTATE_H
