//===- RankTarget.h - what ranks of a target run on -----------------------===//
//
// A rank executable is linked with CpuTarget.cpp or CudaTarget.cpp, so that it
// needs the libraries of its own target only.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H
#define PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H

#include "runtime/comm/Rendezvous.h"
#include "runtime/engine/Rank.h"
#include "runtime/launch/job/RankIdentity.h"

#include <functional>
#include <memory>

namespace pcc::runtime {

/// A rank that starts.
struct RankStart {
  const ProgramImage &image;
  const RunOptions &options;
  const Environment &environment;
  const RankIdentity &identity;
  const std::shared_ptr<FlightRecorder> recorder;
  /// Tells why, perhaps that a rank was lost, and ends the process, from any
  /// thread.
  const std::function<void(const Status &, std::optional<int> lost)> giveUp;
};

/// What it runs on. What is below may use what is above.
struct RankBackend {
  /// Null where the communicator itself ends all ranks with one.
  std::shared_ptr<Rendezvous> rendezvous = {};
  std::unique_ptr<Device> device = {}; ///< of this process
  std::unique_ptr<World> world = {};   ///< the communicator between processes
};

/// What fails while ranks wait for each other may end the process. After an
/// error `place` has what there is of it.
Status openTarget(const RankStart &start, RankBackend &place);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H
