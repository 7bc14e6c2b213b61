//===- ThreadWorld.h - worlds of ranks as threads of one process ----------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
#define PCC_RUNTIME_COMM_THREAD_THREADWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Creates one World (communicator of one rank) for each of `size` ranks that
/// are threads of this process. Entry r of the result is the world of rank r.
/// Only one thread at a time may use an entry, except that any thread may call
/// World::abort(). The caller creates the threads. The worlds may be destroyed
/// in any order when no thread is in a call.
///
/// If a wait misses its deadline on one rank, the run ends with an error on all
/// ranks, as after World::abort(). After a call has returned an error, no other
/// rank accesses the buffers of that call.
std::vector<std::unique_ptr<World>> createThreadWorlds(int size);

/// Creates the World (communicator) of a run with a single rank. `recorder` is
/// the rank's flight recorder (log of its latest activities); it must not be
/// null.
std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
