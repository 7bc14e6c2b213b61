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

/// The arguments with which a rank starts. All references are borrowed.
struct RankStart {
  const ProgramImage &image;
  const RunOptions &options;
  const Environment &environment;
  const RankIdentity &identity;
  const std::shared_ptr<FlightRecorder> recorder;
  /// Function that reports an error and ends the process; it does not return.
  /// `lost` is the rank whose process ended without a message; std::nullopt if
  /// there is none. May be called from any thread.
  const std::function<void(const Status &, std::optional<int> lost)> giveUp;
};

/// The device and the communicator of a rank. Members are destroyed in reverse
/// order, so a member may use the members that are declared before it.
struct RankBackend {
  /// Connection through which each rank detects the failure of other ranks.
  /// Null for MPI, which ends all ranks itself, and for a world of one rank.
  std::shared_ptr<Rendezvous> rendezvous = {};
  /// The device of this process.
  std::unique_ptr<Device> device = {};
  /// The communicator of all ranks.
  std::unique_ptr<World> world = {};
};

/// Opens the device and the communicator of this rank, and stores them in
/// `place`. If one of them cannot be opened, returns an error; `place` keeps
/// the other one if it is open.
///
/// Blocks until all ranks have started, at most for `options.loadTimeout`
/// seconds. A rank that is missing after this time is an error. If a call of a
/// library never returns, another thread ends the process with `start.giveUp`.
Status openTarget(const RankStart &start, RankBackend &place);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H
