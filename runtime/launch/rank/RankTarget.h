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

/// Arguments with which a rank starts. The caller owns the objects to which the
/// references refer. These objects must exist until the rank has ended.
struct RankStart {
  const ProgramImage &image;
  const RunOptions &options;
  const Environment &environment;
  const RankIdentity &identity;
  const std::shared_ptr<FlightRecorder> recorder;
  /// Function that reports an error (the first argument), and then ends this
  /// process. The function does not return. Any thread may call the function.
  ///
  /// `lost` is the rank that was lost, if the loss caused the error. A rank is
  /// lost if its process ends too early: before the rank has finished its work,
  /// and before the rank has sent an error to another rank. For example,
  /// SIGKILL ends the process. If the error has another cause, `lost` is
  /// std::nullopt.
  const std::function<void(const Status &, std::optional<int> lost)> giveUp;
};

/// The device and the communicator of a rank. Members are destroyed in reverse
/// order, so a member may use the members that are declared before it.
struct RankBackend {
  /// Connections between the ranks. Through them, a rank sends its error to the
  /// other ranks, and detects that the process of another rank has ended. Used
  /// only if there are several ranks on GPUs. Null in two cases:
  ///
  /// - There is only one rank.
  /// - The ranks run on CPUs. They send their errors by MPI. If the process of
  ///   a rank is killed, the launcher, such as mpirun, ends the processes of
  ///   the other ranks.
  std::shared_ptr<Rendezvous> rendezvous = {};
  /// The device of this process.
  std::unique_ptr<Device> device = {};
  /// The communicator of all ranks.
  std::unique_ptr<World> world = {};
};

/// Opens the device and the communicator of this rank, and stores them in
/// `place`. After an error, `place.rendezvous` may be open, and the caller can
/// use it to send the error to the other ranks. Blocks until all ranks have
/// started. Each wait lasts about `start.options.loadTimeout` seconds at most.
///
/// - On GPUs, returns an error if a rank is late. If a call of CUDA or NCCL
///   hangs, another thread calls `start.giveUp`, which ends the process.
/// - On CPUs, another thread calls `start.giveUp` if a rank is late, because
///   MPI_Init cannot be interrupted.
Status openTarget(const RankStart &start, RankBackend &place);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_RANKTARGET_H
