//===- ThreadWorld.h - ranks as threads of one process --------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
#define PCC_RUNTIME_COMM_THREAD_THREADWORLD_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace pcc::runtime {

/// The worlds of `size` ranks that share this process; entry r belongs to rank
/// r and is used by its thread (abort() by any). They may be destroyed in any
/// order once no thread is in a call.
///
/// A deadline that passes on one rank ends the run on all, as abort() does:
/// afterwards no rank touches another's memory any more.
std::vector<std::unique_ptr<World>> createThreadWorlds(int size);

/// The world of a process that is the only rank.
std::unique_ptr<World>
createOnlyWorld(std::shared_ptr<FlightRecorder> recorder);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADWORLD_H
