//===- NcclJob.h - what all communicators of a rank share -----------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
#define PCC_RUNTIME_COMM_NCCL_NCCLJOB_H

#include "runtime/comm/Rendezvous.h"
#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/device/cuda/CudaContext.h"

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace pcc::runtime {

/// A communicator of NCCL and the stream that its calls go to.
struct NcclLane {
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  size_t number = 0; ///< among the rank's
};

/// The GPU of a rank, NCCL, and its communicators, which end together. They are
/// non-blocking: calls return before they are done, and settle() waits for
/// that.
class NcclJob {
public:
  NcclJob(CudaContext &gpu, int rank, int size,
          std::shared_ptr<Rendezvous> rendezvous,
          std::shared_ptr<FlightRecorder> recorder)
      : gpu(gpu), rank(rank), size(size), rendezvous(std::move(rendezvous)),
        recorder(std::move(recorder)) {}
  ~NcclJob();
  NcclJob(const NcclJob &) = delete;
  NcclJob &operator=(const NcclJob &) = delete;

  /// Makes the communicator of all ranks; the first call.
  Status open();

  /// The members of `color` among all ranks, in order of `key`, get a lane of
  /// their own; a rank without a color gets none. A call of it takes
  /// `mostBlocks` of a GPU at most. All ranks call.
  Status split(int color, int key, int mostBlocks, NcclLane &lane);
  static constexpr int noColor = NCCL_SPLIT_NOCOLOR;

  /// NCCL connects two ranks when they first call each other, and the host
  /// waits for that: done here, no rank waits in a step for a message that its
  /// peer posts later. All members call; of a lane with two, `self` 0 sends
  /// to 1.
  Status connectEdge(const NcclLane &lane, int self);
  Status connectAll(const NcclLane &lane);

  const NcclLane &everybody() const { return lanes.front(); }

  /// Waits until a communicator has taken what it was given.
  Status settle(ncclResult_t result, ncclComm_t comm, const char *call);

  /// What a lane is given between these two is one call, which the recorder has
  /// until the GPU is done with it. It waits for `peer`, a rank, or, if
  /// negative, for any of the members.
  void note(const NcclLane &lane, const char *call, const ActionId &action,
            std::span<const int> members, int peer);
  Status noteEnd(const NcclLane &lane);

  /// The calls from now on are those of every replay; the GPU does nothing
  /// while a replay begins.
  void beginRecording();
  void beginReplay();

  /// What went wrong on any communicator, or on any other rank, since.
  Status poll();
  /// Names the oldest call that is not done after `seconds`.
  Status missed(double seconds);
  /// Waits until the GPU has computed all that it was given.
  Status waitForAll() { return waitFor(gpu.stream()); }
  /// Changes whenever the GPU is done with a call.
  uint64_t progress() const;
  void abort(const Status &why);

  CudaContext &gpu;
  const int rank, size;
  const std::shared_ptr<Rendezvous> rendezvous;
  const std::shared_ptr<FlightRecorder> recorder;
  NcclLibrary library;
  std::atomic<double> deadlineSeconds{600.0};

private:
  /// A call that a lane was given.
  struct QueuedCall {
    size_t lane = 0;
    uint32_t number = 0; ///< of the lane's, from 1
    const char *name = nullptr;
    ActionId action;
    std::span<const int> members;
    int peer = -1;
    FlightRecorder::Entry entry = 0;
    bool isOpen = false;
  };
  /// How many calls are looked after; the recorder keeps no more.
  static constexpr size_t kMostCalls = FlightRecorder::kCapacity;

  Status openLane(ncclComm_t comm, NcclLane &lane);
  /// A word of the GPU that connections are made with.
  Status findWord();
  Status waitFor(CUstream stream);
  void end(bool isSound);
  bool isDone(const QueuedCall &call) const;
  void closeCalls();
  void closeRecorded();
  /// The oldest that is not done; null if all are.
  const QueuedCall *findOpen() const;
  void tellRecorder(QueuedCall &call);
  std::vector<int> awaitedBy(const QueuedCall &call) const;

  void *word = nullptr;
  std::vector<NcclLane> lanes; ///< that of all ranks first
  /// Where NCCL puts what splits make, when it likes: nothing here moves.
  std::deque<ncclComm_t> splits;
  std::vector<uint32_t> given; ///< calls, by lane
  /// How many of them the GPU has done, by lane: it counts them itself.
  volatile uint32_t *done = nullptr;
  static constexpr size_t kMostLanes = 1024;
  std::vector<QueuedCall> calls; ///< a ring
  size_t numCalls = 0, firstOpen = 0;
  /// Those of a step that is replayed, where the counters begin, and how many
  /// calls are done.
  std::vector<QueuedCall> recorded;
  std::vector<uint32_t> before;
  size_t numReplayed = 0;
  bool isRecording = false, isReplaying = false;
  Status aborted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
