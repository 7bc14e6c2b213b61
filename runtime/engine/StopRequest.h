//===- StopRequest.h - orderly end of training on request -----------------===//

#ifndef PCC_RUNTIME_ENGINE_STOPREQUEST_H
#define PCC_RUNTIME_ENGINE_STOPREQUEST_H

namespace pcc::runtime {

/// Makes SIGTERM, SIGINT and SIGHUP request an orderly end of training
/// (stopRequested()). A second signal of the same kind ends the process.
/// Signals that this process inherited as ignored stay ignored. SIGXCPU, which
/// comes when the soft limit of processor time has passed, is a request, too.
///
/// Also handles SIGPIPE, which has two possible senders:
///
/// - If another process, such as `pcc run`, sends SIGPIPE, the signal requests
///   an orderly end of training.
/// - If this process writes to a pipe without a reader, the operating system
///   sends SIGPIPE. In this case, the signal has no effect. The write fails
///   with the error EPIPE, and the process continues.
void listenForStop();

/// Requests an orderly end of training, as if `signal` had arrived.
void requestStop(int signal);

/// Returns the number of the signal that requests an orderly end of training; 0
/// if there is none.
int stopRequested();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_STOPREQUEST_H
