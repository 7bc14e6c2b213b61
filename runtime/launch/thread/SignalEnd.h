//===- SignalEnd.h - signals that end a run of threads --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_SIGNALEND_H
#define PCC_RUNTIME_LAUNCH_THREAD_SIGNALEND_H

namespace pcc::runtime {

/// Makes SIGINT, SIGTERM and SIGHUP end this process with exit code 128 plus
/// the number of the signal, after one line on stderr: the same line as of a
/// run of processes. A signal that is ignored stays ignored. Training replaces
/// the handlers by its own (listenForStop()).
void tellEndBySignal();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_SIGNALEND_H
