//===- StopRequest.h - orderly end of training on request -----------------===//

#ifndef PCC_RUNTIME_ENGINE_STOPREQUEST_H
#define PCC_RUNTIME_ENGINE_STOPREQUEST_H

namespace pcc::runtime {

/// Installs handlers for SIGTERM, SIGINT and SIGHUP, unless this process
/// inherited them as ignored. The first of each signal only sets
/// stopRequested(), so that training can end after the current step. A second
/// signal of the same kind has its default effect and ends the process.
///
/// Also installs a handler for SIGPIPE, after which a write to a pipe without a
/// reader fails with EPIPE. A SIGPIPE that another process sends, as `pcc run`
/// does when its own reader is gone, sets stopRequested().
void listenForStop();

/// Requests an orderly end of training by this process, as if `signal` had
/// arrived.
void requestStop(int signal);

/// Returns the number of the signal that requests an orderly end of training,
/// or 0 if none does. Does not block.
int stopRequested();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_STOPREQUEST_H
