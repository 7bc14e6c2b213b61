//===- NcclJob.h - NCCL communicators of a rank and their supervision -----===//

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

/// An NCCL communicator with the CUDA stream of its calls. Owned by NcclJob;
/// groups hold copies.
struct NcclLane {
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  size_t number = 0; ///< index among the lanes of this rank
};

/// One rank's GPU, the NCCL library, and all communicators of the rank. The
/// communicators are non-blocking in NCCL's sense: an NCCL call may return
/// before NCCL has enqueued its work, and settle() waits until it has.
///
/// A hanging NCCL call cannot report itself, so the job tracks every call.
/// After each call the lane's stream writes the call's number to a counter in
/// pinned host memory (`done`). The oldest call whose number has not been
/// reached is the one that hangs:
///
///   host     note(): call 7     note(): call 8
///   stream   … call 7, done = 7, call 8, done = 8
///
/// Only the rank's thread may use the job.
class NcclJob {
public:
  /// `gpu` must outlive this object.
  NcclJob(CudaContext &gpu, int rank, int size,
          std::shared_ptr<Rendezvous> rendezvous,
          std::shared_ptr<FlightRecorder> recorder)
      : gpu(gpu), rank(rank), size(size), rendezvous(std::move(rendezvous)),
        recorder(std::move(recorder)) {}
  /// Ends all communicators: with the peers after success, alone after abort().
  ~NcclJob();
  NcclJob(const NcclJob &) = delete;
  NcclJob &operator=(const NcclJob &) = delete;

  /// Loads NCCL, and creates the communicator of all ranks. Must be the first
  /// call. Blocks until all ranks have called, at most for the deadline. Exit
  /// code 13 without NCCL, 14 if a rank does not call.
  Status open();

  /// Creates a lane for every set of ranks that pass the same `color`, ordered
  /// by `key` (ncclCommSplit). A rank that passes noColor gets no lane. Each
  /// call on the lane uses at most `mostBlocks` thread blocks of a GPU
  /// (maxCTAs). All ranks of the world must call; blocks until they have.
  Status split(int color, int key, int mostBlocks, NcclLane &lane);
  /// Color of a rank that takes part in a split without joining a lane.
  static constexpr int noColor = NCCL_SPLIT_NOCOLOR;

  /// Connects the two ranks of an edge's lane by a first message, from rank 0
  /// to rank 1 of the lane; `self` is this rank's number there. NCCL connects
  /// two ranks when they first communicate, and blocks the host until both take
  /// part. If this happened during a step, a rank could wait for a message that
  /// its peer posts later. Both ranks must call.
  Status connectEdge(const NcclLane &lane, int self);
  /// Connects all members of a group's lane, for the reason that connectEdge()
  /// explains, by a first all-reduce. All members must call.
  Status connectAll(const NcclLane &lane);

  /// Returns the lane of all ranks.
  const NcclLane &everybody() const { return lanes.front(); }

  /// Waits until NCCL has enqueued a call on `comm`. `result` is the result of
  /// the call, and `call` its name in messages. Returns the call's error, if it
  /// has one. Fails also if another rank ends the run, or after the deadline.
  Status settle(ncclResult_t result, ncclComm_t comm, const char *call);

  /// Begins to track a call on `lane`. The NCCL call and noteEnd() follow.
  /// `members` are the world ranks of the group; the span must stay valid as
  /// long as this object. `peer` is the only world rank that the call depends
  /// on; -1 if it depends on all members. The flight recorder has an open wait
  /// for the call until the GPU has completed it.
  void note(const NcclLane &lane, const char *call, const ActionId &action,
            std::span<const int> members, int peer);
  /// Enqueues the update of the lane's counter behind the noted call.
  Status noteEnd(const NcclLane &lane);

  /// Starts to list the noted calls as calls of a CUDA graph that is being
  /// captured. The list ends with the first beginReplay().
  void beginRecording();
  /// Sets the lanes' counters back to where the captured calls begin, because
  /// the GPU is about to execute these calls again. All earlier calls must be
  /// complete.
  void beginReplay();

  /// Returns the first error of a communicator or of another rank, since the
  /// run began. Also updates the tracked calls and sends a heartbeat. Does not
  /// block.
  Status poll();
  /// Returns the error (exit code 14) for a wait of `seconds`, which names the
  /// oldest incomplete call and the peers that this call depends on. Names the
  /// GPU if all calls are complete.
  Status missed(double seconds);
  /// Blocks until the compute stream is idle, at most for the deadline.
  Status waitForAll() { return waitFor(gpu.stream()); }
  /// Returns a number that changes whenever the GPU completes a call.
  uint64_t progress() const;
  /// Ends the run on all ranks, and aborts this rank's communicators. Does
  /// nothing at a second call.
  void abort(const Status &why);

  CudaContext &gpu;
  const int rank, size; ///< world rank, and number of ranks
  const std::shared_ptr<Rendezvous> rendezvous;
  const std::shared_ptr<FlightRecorder> recorder;
  NcclLibrary library;
  /// Longest time of one wait, in seconds.
  std::atomic<double> deadlineSeconds{600.0};

private:
  /// A tracked call; the arguments of note(), and its state.
  struct QueuedCall {
    size_t lane = 0;            ///< number of the lane
    uint32_t number = 0;        ///< number of the call on its lane, from 1
    const char *name = nullptr; ///< a literal, such as "all_reduce"
    ActionId action;
    std::span<const int> members;
    int peer = -1;
    FlightRecorder::Entry entry = 0; ///< the wait in the recorder
    bool isOpen = false;             ///< whether `entry` has not ended
  };
  /// Number of calls that are tracked at a time. The recorder keeps no more
  /// entries either.
  static constexpr size_t kMostCalls = FlightRecorder::kCapacity;

  /// Adds a communicator and creates its stream.
  Status openLane(ncclComm_t comm, NcclLane &lane);
  /// Allocates `word`, if that is not done yet.
  Status findWord();
  /// Blocks until `stream` is idle. Fails on any error of poll(), or after the
  /// deadline.
  Status waitFor(CUstream stream);
  /// Ends all communicators. `isSound` is true after a successful run, in which
  /// the peers end theirs, too; otherwise the communicators are aborted. Gives
  /// up after a fixed time.
  void end(bool isSound);
  /// Returns whether the GPU has completed the call.
  bool isDone(const QueuedCall &call) const;
  /// Ends the recorder entries of all calls that are complete.
  void closeCalls();
  /// Ends the recorder entries of the complete calls of a replay, in order, and
  /// begins the entry of the next call. Ends the replay after its last call.
  void closeRecorded();
  /// Returns the oldest incomplete call, or null if all calls are complete.
  const QueuedCall *findOpen() const;
  /// Begins the recorder entry of a call.
  void tellRecorder(QueuedCall &call);
  /// Returns the world ranks that a call depends on.
  std::vector<int> awaitedBy(const QueuedCall &call) const;

  /// GPU memory of 4 bytes, for the first messages of connections.
  void *word = nullptr;
  /// Lanes by number; the lane of all ranks comes first.
  std::vector<NcclLane> lanes;
  /// Handles that ncclCommSplit sets asynchronously. A deque, because NCCL
  /// keeps their addresses.
  std::deque<ncclComm_t> splits;
  /// Number of the latest call of each lane.
  std::vector<uint32_t> given;
  /// Number of the latest completed call of each lane: kMostLanes counters in
  /// pinned host memory, written by the GPU.
  volatile uint32_t *done = nullptr;
  static constexpr size_t kMostLanes = 1024;
  /// Ring of calls that are not part of a graph; call i is at i % kMostCalls.
  std::vector<QueuedCall> calls;
  /// Number of calls so far, and number of the oldest call that may be open.
  size_t numCalls = 0, firstOpen = 0;
  /// Calls of the captured graph, in order.
  std::vector<QueuedCall> recorded;
  /// Value of `given` when the capture began.
  std::vector<uint32_t> before;
  /// Number of calls that the current replay has completed.
  size_t numReplayed = 0;
  bool isRecording = false, isReplaying = false;
  /// Reason of abort(); success before.
  Status aborted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
