//===- RankTarget.h - what ranks of a target run on -----------------------===//
//
// A rank executable is linked with CpuTarget.cpp or CudaTarget.cpp, so that it
// needs the libraries of its own target only.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANKTARGET_H
#define PCC_RUNTIME_LAUNCH_RANKTARGET_H

#include "runtime/engine/Engine.h"
#include "runtime/launch/Identity.h"

#include <memory>

namespace pcc::runtime {

/// The communicator between processes, and the device of this one. `folder` is
/// that of the job, empty where there is none. What fails while ranks wait for
/// each other may end the process.
Status openTarget(const RunOptions &options, const Identity &identity,
                  const std::string &folder,
                  const std::shared_ptr<FlightRecorder> &recorder,
                  std::unique_ptr<World> &world,
                  std::unique_ptr<Device> &device);

/// Ends the process at once: after a failure nothing may wait for peers.
[[noreturn]] void leave(int exitCode);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANKTARGET_H
