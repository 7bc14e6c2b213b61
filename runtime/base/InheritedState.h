//===- InheritedState.h - signals and descriptors from the parent ---------===//

#ifndef PCC_RUNTIME_BASE_INHERITEDSTATE_H
#define PCC_RUNTIME_BASE_INHERITEDSTATE_H

#include <csignal>

namespace pcc::runtime {

/// Sets the standard descriptors and two signal settings of the process to a
/// defined state, independent of the state that the process inherited. Call
/// this first in main(), before any file is opened or any thread is started:
///
///   inherited state               effect without this call      with it
///   descriptor 0, 1 or 2 closed   a file of the program gets    reads and
///                                 its number, and messages are  writes fail
///                                 written into that file
///   RLIMIT_FSIZE                  a write beyond it raises      the write fails
///                                 SIGXFSZ                       (EFBIG)
///   SIGCHLD ignored               exit statuses of children     they arrive
///                                 are lost
void repairInheritedState();

/// Returns the signals among SIGINT, SIGTERM and SIGHUP that may end this
/// process. A signal may end the process if it was neither ignored nor blocked
/// at the first call of this function. Programs such as nohup start a process
/// with an ignored signal so that the process survives that signal. Call this
/// before any of these signals is blocked.
sigset_t endingSignals();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_INHERITEDSTATE_H
