//===- NcclJob.h - NCCL communicators of a rank and their supervision -----===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
#define PCC_RUNTIME_COMM_NCCL_NCCLJOB_H

#include "runtime/comm/QueuedWorld.h"
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

/// An NCCL communicator with the CUDA stream on which its calls run. NcclJob
/// owns both; groups hold copies of this struct.
struct NcclLane {
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  size_t number = 0; ///< index among the lanes of this rank
};

/// One rank's GPU, the NCCL library, and all NCCL communicators of the rank.
/// The communicators are non-blocking: an NCCL call may return before NCCL has
/// enqueued its work. settle() waits until NCCL has done so.
///
/// The job numbers the calls of each lane (communicator and stream), in order
/// to find a call that hangs. After each call, the lane's stream writes the
/// call's number to the counter `done` in pinned host memory:
///
///   host     note(): call 7     note(): call 8
///   stream   … call 7, done = 7, call 8, done = 8
///
/// If `done` stays 7, call 8 hangs. Only the rank's thread may use the job.
class NcclJob final : public QueuedWorld {
public:
  /// Stores the arguments; open() creates the first communicator. `gpu` must
  /// outlive this object.
  NcclJob(CudaContext &gpu, int rank, int size,
          std::shared_ptr<Rendezvous> rendezvous,
          std::shared_ptr<FlightRecorder> recorder)
      : gpu(gpu), rank(rank), size(size), rendezvous(std::move(rendezvous)),
        recorder(std::move(recorder)) {}
  /// Ends all communicators. After a successful run they are finalized together
  /// with the peers; after abort() they are aborted without the peers.
  ~NcclJob() override;
  NcclJob(const NcclJob &) = delete;
  NcclJob &operator=(const NcclJob &) = delete;

  /// Loads NCCL, and creates the communicator of all ranks. Must be the first
  /// call. Blocks until all ranks have called, at most for the deadline. Exit
  /// code 13 without NCCL, 14 if a rank does not call.
  Status open();

  /// Splits the ranks of the world into lanes (communicator and stream), like
  /// ncclCommSplit, and sets `lane` to the lane of this rank. All ranks must
  /// call; the call blocks until they have.
  ///
  /// - `color`: ranks with the same color get a common lane. A rank that passes
  ///   noColor gets no lane.
  /// - `key`: order of the ranks in the lane.
  /// - `mostBlocks`: largest number of GPU thread blocks that a call on the
  ///   lane uses (maxCTAs).
  Status split(int color, int key, int mostBlocks, NcclLane &lane);
  /// Color of a rank that takes part in a split without joining a lane.
  static constexpr int noColor = NCCL_SPLIT_NOCOLOR;

  /// Connects the two ranks of `lane`, which is the lane of one edge (pair of
  /// sender and receiver). Rank 0 of the lane sends a first message to rank 1.
  /// `self` is this rank's number in the lane, 0 or 1. Both ranks must call.
  ///
  /// NCCL connects two ranks at their first message, and blocks the host until
  /// both take part. This must not happen during a step: the host of a blocked
  /// rank could not post the message for which its peer waits.
  Status connectEdge(const NcclLane &lane, int self);
  /// Connects all members of a group's lane (communicator and stream) by a
  /// first all-reduce, before the first step. Otherwise NCCL would connect them
  /// at their first call during a step, and could block the host. All members
  /// must call.
  Status connectAll(const NcclLane &lane);

  /// Returns the lane (communicator and stream) of all ranks.
  const NcclLane &everybody() const { return lanes.front(); }

  /// Blocks until NCCL has enqueued a call on `comm`. `result` is what the NCCL
  /// call returned, and `call` is its name in messages. Returns an error if the
  /// call failed, if another rank ends the run, or if the deadline passes.
  Status settle(ncclResult_t result, ncclComm_t comm, const char *call);

  /// Begins to track a call on `lane`. The order of the calls is note(), the
  /// NCCL call, noteEnd(). The flight recorder has an entry for the call until
  /// the GPU has completed it.
  ///
  /// - `members`: world ranks of the group. The span must stay valid as long as
  ///   this object.
  /// - `peer`: world rank of the only member that the call depends on; -1 if it
  ///   depends on all members.
  void note(const NcclLane &lane, const char *call, const ActionId &action,
            std::span<const int> members, int peer);
  /// Enqueues a write on the lane's stream that marks the lane's latest call as
  /// completed. The write stores the call's number in the lane's counter in
  /// `done`. Must be called after note() and the NCCL call, so that the write
  /// follows the NCCL call on the stream.
  Status noteEnd(const NcclLane &lane);

  /// Must be called when the capture of a CUDA graph begins. note() then stores
  /// calls in `recorded`, the list of the graph's calls, until the first
  /// beginReplay().
  void beginRecording() override;
  /// Prepares the tracking of one execution of the captured CUDA graph. Resets
  /// each lane's counter in `done` to its value before the capture, because the
  /// GPU will write the numbers of the captured calls again. All earlier calls
  /// must be complete.
  void beginReplay() override;

  /// Returns an error if a communicator of this rank has failed, or if another
  /// rank has ended the run with an error. Also updates the state of the
  /// tracked calls, and records a heartbeat in the flight recorder. Does not
  /// block.
  Status poll() override;
  /// Returns the error (exit code 14) of a wait that missed its deadline after
  /// `seconds`. The message names the oldest incomplete call and the peers that
  /// this call depends on. If all calls are complete, the message names the GPU
  /// instead.
  Status missed(double seconds) override;
  /// Blocks until the GPU's compute stream has completed all of its work, at
  /// most for the deadline.
  Status waitForAll() { return waitFor(gpu.stream()); }
  /// Returns a counter that changes whenever the GPU completes an NCCL call of
  /// this rank.
  uint64_t progress() const override;
  /// Ends the run on all ranks with error `why`, and aborts this rank's
  /// communicators. A second call does nothing.
  void abort(const Status &why);

  CudaContext &gpu;
  const int rank, size; ///< world rank, and number of ranks
  const std::shared_ptr<Rendezvous> rendezvous;
  const std::shared_ptr<FlightRecorder> recorder;
  NcclLibrary library;
  /// Deadline: longest time of one wait, in seconds.
  std::atomic<double> deadlineSeconds{600.0};

private:
  /// A tracked NCCL call: the arguments of note(), and the state of the call.
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
  /// Number of most recent calls that are tracked. It equals the number of
  /// entries that the flight recorder keeps.
  static constexpr size_t kMostCalls = FlightRecorder::kCapacity;

  /// Creates a CUDA stream for `comm`, appends both to `lanes`, and returns
  /// them in `lane`.
  Status openLane(ncclComm_t comm, NcclLane &lane);
  /// Allocates `word`, the 4 bytes of GPU memory for first messages, unless it
  /// is allocated already.
  Status findWord();
  /// Blocks until `stream` has completed all of its work. Returns an error as
  /// soon as poll() returns one, or if the deadline passes.
  Status waitFor(CUstream stream);
  /// Ends all NCCL communicators of this rank. If `isSound` (the run was
  /// successful), they are finalized together with the peers. Otherwise they
  /// are aborted without the peers. Waits only for a fixed time (some seconds)
  /// for NCCL.
  void end(bool isSound);
  /// Returns whether the GPU has completed the call.
  bool isDone(const QueuedCall &call) const;
  /// Ends the flight recorder's entries of all calls that the GPU has
  /// completed.
  void closeCalls();
  /// Updates the flight recorder while the GPU executes the captured CUDA
  /// graph. Ends the entries of the completed calls, in order, and begins the
  /// entry of the next call. After the last call the replay is over.
  void closeRecorded();
  /// Returns the oldest call that the GPU has not completed, or null if all
  /// calls are complete.
  const QueuedCall *findOpen() const;
  /// Begins the flight recorder's entry of a call.
  void tellRecorder(QueuedCall &call);
  /// Returns the world ranks that a call depends on.
  std::vector<int> awaitedBy(const QueuedCall &call) const;

  /// GPU memory of 4 bytes, which connectEdge() and connectAll() transfer.
  void *word = nullptr;
  /// All lanes (communicator and stream) of this rank by number; the lane of
  /// all ranks has number 0.
  std::vector<NcclLane> lanes;
  /// Communicator handles that ncclCommSplit sets asynchronously. A deque,
  /// because NCCL keeps the addresses of the elements.
  std::deque<ncclComm_t> splits;
  /// Per lane (communicator and stream): number of the latest call that was
  /// enqueued, counted from 1.
  std::vector<uint32_t> given;
  /// Per lane (communicator and stream): number of the latest call that the GPU
  /// has completed. An array of kMostLanes counters in pinned host memory,
  /// which the GPU writes.
  volatile uint32_t *done = nullptr;
  static constexpr size_t kMostLanes = 1024;
  /// Ring buffer of the calls that are not part of a CUDA graph; call i is at
  /// index i % kMostCalls.
  std::vector<QueuedCall> calls;
  /// `numCalls`: number of tracked calls so far, without calls of a CUDA graph.
  /// `firstOpen`: number of the oldest of these calls that may be incomplete.
  /// The calls are numbered from 0.
  size_t numCalls = 0, firstOpen = 0;
  /// Calls of the captured CUDA graph, in order.
  std::vector<QueuedCall> recorded;
  /// Per lane: number of the latest call that was enqueued before the capture
  /// of the CUDA graph began.
  std::vector<uint32_t> before;
  /// Number of captured calls that the GPU has completed in the current replay.
  size_t numReplayed = 0;
  bool isRecording = false, isReplaying = false;
  /// Error that was passed to abort(); success if abort() has not been called.
  Status aborted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
