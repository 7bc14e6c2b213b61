//===- StopRequest.h - SIGTERM and SIGINT while training ------------------===//

#ifndef PCC_RUNTIME_ENGINE_STOPREQUEST_H
#define PCC_RUNTIME_ENGINE_STOPREQUEST_H

namespace pcc::runtime {

/// From now on the first SIGTERM or SIGINT asks for an end after the current
/// step; another one ends the process as it would have without this.
void listenForStop();

/// The one that has come, or 0.
int stopRequested();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_STOPREQUEST_H
