//===- StopRequest.h - orderly end of training on SIGTERM and SIGINT ------===//

#ifndef PCC_RUNTIME_ENGINE_STOPREQUEST_H
#define PCC_RUNTIME_ENGINE_STOPREQUEST_H

namespace pcc::runtime {

/// Installs handlers for SIGTERM and SIGINT. The first signal of a kind only
/// makes stopRequested() return its number, so that training can end after the
/// current step. A second signal of that kind has its default effect and ends
/// the process.
void listenForStop();

/// Returns the number of the stop signal (SIGTERM or SIGINT) that has arrived,
/// or 0 if none has. Does not block.
int stopRequested();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_STOPREQUEST_H
