//===- ThreadWorld.h - worlds of ranks as threads of one process ----------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
#define PCC_RUNTIME_COMM_THREAD_THREADWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Creates one World (communicator of one rank) for each of `size` ranks that
/// are threads of this process. The caller creates the threads. Only one thread
/// at a time may use a world, but any thread may call World::abort().
///
/// In a collective, each rank reads and writes the buffers of the other ranks
/// directly. After a call of a rank has failed, the other ranks no longer
/// access the buffers that this rank passed to the call.
std::vector<std::unique_ptr<World>> createThreadWorlds(int size);

/// Creates the World (communicator) of a run with a single rank. `recorder`,
/// the log of the rank's latest activities, must not be null.
std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
