//===- ThreadWorld.h - worlds of ranks as threads of one process ----------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
#define PCC_RUNTIME_COMM_THREAD_THREADWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// Creates the worlds of `size` ranks that share this process. Entry r is the
/// world of rank r and is used by one thread at a time, except for abort(),
/// which any thread may call. The caller provides the threads. The worlds may
/// be destroyed in any order once no thread is in a call.
///
/// A deadline that passes on one rank ends the run on all ranks, as abort()
/// does. When a call returns an error, no other rank accesses the buffers of
/// that call any more.
std::vector<std::unique_ptr<World>> createThreadWorlds(int size);

/// Creates the world of a run with a single rank. `recorder` must not be null.
std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
