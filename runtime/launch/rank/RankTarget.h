//===- RankTarget.h - device and communicator of a target's ranks ---------===//
//
// openTarget() has two implementations, CpuTarget.cpp and CudaTarget.cpp. A
// rank executable is linked with one of them, so that it needs only the
// libraries of its target.
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

/// The arguments of a rank that starts. All references are borrowed.
struct RankStart {
  const ProgramImage &image;
  const RunOptions &options;
  const Environment &environment;
  const RankIdentity &identity;
  const std::shared_ptr<FlightRecorder> recorder;
  /// Reports an error, and the index of the rank that was lost if one was, then
  /// ends the process. May be called from any thread. Does not return.
  const std::function<void(const Status &, std::optional<int> lost)> giveUp;
};

/// The objects that a rank runs on. Members may refer to members declared
/// before them, so destruction in reverse order is safe.
struct RankBackend {
  /// Connection through which ranks watch each other. Null if the communicator
  /// ends all ranks itself (MPI), or if the world has one rank.
  std::shared_ptr<Rendezvous> rendezvous = {};
  /// The device of this process.
  std::unique_ptr<Device> device = {};
  /// The communicator between the processes.
  std::unique_ptr<World> world = {};
};

/// Opens the device and the communicator, and sets the members of `place`.
/// After an error, `place` has the members that could be opened. Blocks until
/// all ranks have started; a rank that waits longer than `options.loadTimeout`
/// may end the process through `start.giveUp`.
Status openTarget(const RankStart &start, RankBackend &place);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H
