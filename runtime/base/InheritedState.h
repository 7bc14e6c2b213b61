//===- InheritedState.h - signals and descriptors from the parent ---------===//

#ifndef PCC_RUNTIME_BASE_INHERITEDSTATE_H
#define PCC_RUNTIME_BASE_INHERITEDSTATE_H

#include "status/Status.h"

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace pcc::runtime {

/// Corrects four settings that a process can inherit from its parent process.
/// Call this function first in main(), before a file is opened or a thread is
/// started.
///
/// - Descriptor 0, 1 or 2 may be closed. The function opens /dev/null at a
///   closed descriptor. Otherwise a file that is opened later could get
///   descriptor 2, and messages to stderr would be written into that file.
/// - The file size may be limited (RLIMIT_FSIZE). The function makes the
///   process ignore SIGXFSZ. A write beyond the limit then fails with EFBIG,
///   and the signal does not end the process.
/// - The reader of stdout or stderr may end early. The function makes the
///   process ignore SIGPIPE, so that a lost message does not end a training.
/// - SIGCHLD may be ignored. The function restores the default action.
///   Otherwise the exit statuses of child processes would be lost.
void repairInheritedState();

/// Raises the soft limit `resource`, such as RLIMIT_NOFILE, to `wanted`, or to
/// the hard limit if the hard limit is lower than `wanted`. Does nothing if the
/// soft limit is already `wanted` or more, or is not known. Returns whether the
/// soft limit is now at least `needed`, or is not known.
bool raiseLimit(int resource, uint64_t needed, uint64_t wanted);

/// Raises the limits of open files (RLIMIT_NOFILE) and of stacks (RLIMIT_STACK)
/// of this process to what pcc needs. Returns an error with exit code 7 if a
/// limit is lower and cannot be raised.
Status raiseLimits();

/// Adds to `set` each of `signals` that the process neither ignores nor blocks
/// in the calling thread.
void addEffectiveSignals(std::initializer_list<int> signals, sigset_t &set);

/// Returns the number and the name of a signal, such as "signal 9 (Killed)".
std::string signalText(int number);

/// Returns the signals among SIGINT, SIGTERM and SIGHUP that can end this
/// process. A signal that the process ignores or blocks cannot end the process.
/// For example, nohup starts a process that ignores SIGHUP. The function then
/// returns SIGINT and SIGTERM.
///
/// The first call computes the set of signals, and each later call returns the
/// same set. Make the first call before the program itself ignores or blocks
/// one of the three signals.
sigset_t endingSignals();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_INHERITEDSTATE_H
