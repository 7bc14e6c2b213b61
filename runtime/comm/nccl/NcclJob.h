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

/// An NCCL communicator with the CUDA stream on which its NCCL calls run. The
/// struct stores only two handles and a number. A copy of the struct refers to
/// the same communicator and to the same stream. NcclJob ends the communicator,
/// and CudaContext destroys the stream.
struct NcclLane {
  ncclComm_t comm = nullptr;
  CUstream stream = nullptr;
  size_t number = 0; ///< index among the lanes of this rank
};

/// GPU, NCCL library and NCCL communicators of one rank. A lane is a
/// communicator with its CUDA stream. The communicators are non-blocking: an
/// NCCL function may return before its operation is on the stream, and settle()
/// waits until it is. Only the rank's thread may use this object.
///
/// To find a call that the GPU never completes, note() numbers the calls of
/// each lane. After each call, the GPU writes the call's number to the lane's
/// counter in host memory. If the counter `done` stays 7, call 8 hangs:
///
///   host     note(): call 7     note(): call 8
///   stream   call 7, done = 7, call 8, done = 8
class NcclJob final : public QueuedWorld {
public:
  /// Stores the arguments. The constructor creates no NCCL communicator. open()
  /// creates the communicator of all ranks.
  ///
  /// - `gpu`: CUDA context of this rank's GPU. It must outlive this object.
  /// - `rank`: number of this rank among all ranks of the run, from 0.
  /// - `size`: number of ranks of the run.
  /// - `rendezvous`: connections between the processes of all ranks. The
  ///   connections do not use NCCL.
  /// - `recorder`: flight recorder (log of this rank's latest activities).
  NcclJob(CudaContext &gpu, int rank, int size,
          std::shared_ptr<Rendezvous> rendezvous,
          std::shared_ptr<FlightRecorder> recorder)
      : gpu(gpu), rank(rank), size(size), rendezvous(std::move(rendezvous)),
        recorder(std::move(recorder)) {}
  /// Ends all communicators of this rank, together with the other ranks. After
  /// abort() there is nothing to do, because abort() has ended them.
  ~NcclJob() override;
  NcclJob(const NcclJob &) = delete;
  NcclJob &operator=(const NcclJob &) = delete;

  /// Loads the NCCL library, and creates the NCCL communicator of all ranks.
  /// Must be called before all other functions of this class. All ranks must
  /// call open(). The function blocks until all ranks have called it. Errors
  /// include:
  ///
  /// - exit code 13: The NCCL library is missing or too old.
  /// - exit code 14: Another rank has not called open() within
  ///   `deadlineSeconds`.
  Status open();

  /// Splits all ranks of the run into disjoint sets by ncclCommSplit, and
  /// creates a lane for each set. A lane is an NCCL communicator with a CUDA
  /// stream. Sets `lane` to the lane of this rank's set. All ranks must call
  /// split(). The function blocks until all ranks have called it.
  ///
  /// - `color`: number of the set that this rank joins. With color noColor,
  ///   this rank joins no set, and `lane` stays unchanged.
  /// - `key`: number that orders the ranks of a set. For example, a set has two
  ///   ranks: rank 5 with key 0 and rank 2 with key 1. Rank 5 becomes rank 0 of
  ///   the lane's communicator, and rank 2 becomes rank 1.
  /// - `mostBlocks`: largest number of GPU thread blocks for one NCCL call on
  ///   the lane (ncclConfig_t::maxCTAs).
  Status split(int color, int key, int mostBlocks, NcclLane &lane);
  /// Color with which a rank calls split() if the rank joins none of the sets
  /// that split() creates. The rank must still call split(), because the other
  /// ranks wait in split() until all ranks have called it.
  static constexpr int noColor = NCCL_SPLIT_NOCOLOR;

  /// Transfers a first message on `lane`, and waits until the transfer is
  /// complete. A lane is an NCCL communicator with a CUDA stream. The
  /// communicator of `lane` must have two ranks: rank 0 sends the message, and
  /// rank 1 receives it. Both ranks must call connectEdge(). `self` is the
  /// number of this rank in the communicator, 0 or 1.
  ///
  /// Must be called before the first training or inference step: NCCL connects
  /// two ranks at their first message, and may block the host until both ranks
  /// take part.
  Status connectEdge(const NcclLane &lane, int self);
  /// Runs a first all-reduce on `lane` (communicator and stream), and waits
  /// until the all-reduce is complete. All ranks of the communicator must call
  /// connectAll().
  ///
  /// Must be called before the first training or inference step: NCCL connects
  /// the ranks of a communicator at their first all-reduce, and may block the
  /// host until all of them take part.
  Status connectAll(const NcclLane &lane);

  /// Returns the lane (communicator and stream) of all ranks.
  const NcclLane &everybody() const { return lanes.front(); }

  /// Blocks until NCCL has finished a non-blocking call on the host. The GPU
  /// may still have to execute the operation.
  ///
  /// - `result`: the value that the NCCL call returned. If the value is
  ///   ncclInProgress, settle() asks NCCL repeatedly until NCCL has finished
  ///   the call.
  /// - `comm`: the communicator of the NCCL call.
  /// - `call`: the name of the NCCL call in error messages.
  ///
  /// Returns an error if the NCCL call fails, if another rank ends the run, or
  /// if the wait is longer than `deadlineSeconds`.
  Status settle(ncclResult_t result, ncclComm_t comm, const char *call);

  /// Must be called directly before each NCCL call on `lane`, so that an error
  /// message can name a call that hangs. noteEnd() must follow the NCCL call.
  /// `call` is the name of the NCCL call, and must be a string literal. `peer`
  /// is the world rank of the other rank if there is only one, otherwise -1.
  ///
  /// `members` lists the world ranks of the group. Its memory must stay valid
  /// until the NCCL call is complete. If a CUDA graph contains the call, the
  /// memory must stay valid until the last execution of the graph is complete.
  void note(const NcclLane &lane, const char *call, const ActionId &action,
            std::span<const int> members, int peer);
  /// Must be called directly after an NCCL call on `lane`, which is a
  /// communicator with a CUDA stream. note() has given the NCCL call a number,
  /// for example 7. noteEnd() enqueues a write on the stream. When the NCCL
  /// call is complete, the GPU executes the write. The write stores 7 in the
  /// lane's counter, which is an element of the array `done`.
  Status noteEnd(const NcclLane &lane);

  /// Must be called when the device begins to capture a CUDA graph. The NCCL
  /// calls that follow become part of the graph. NcclGroup calls note()
  /// directly before each NCCL call, and note() stores a description of the
  /// NCCL call. During the capture, note() stores the description in the list
  /// `recorded`. After the first call of beginReplay(), note() stores the
  /// description in the list `calls` instead.
  ///
  /// Between the end of the capture and the first call of beginReplay(), this
  /// rank must not make an NCCL call.
  void beginRecording() override;
  /// Must be called before each execution of the captured CUDA graph. All
  /// earlier NCCL calls must be complete.
  ///
  /// The array `done` has a counter for each lane (communicator and stream):
  /// the number of the latest NCCL call that the GPU has completed on the lane.
  /// Each execution of the graph writes the same numbers to the counters.
  /// Before the execution, beginReplay() therefore sets each counter back to
  /// the number of the lane's last call before the capture. For example, the
  /// graph contains calls 6 and 7 of a lane. beginReplay() sets the lane's
  /// counter to 5. During the execution, the GPU sets the counter to 6 and then
  /// to 7.
  void beginReplay() override;

  /// Returns an error if a communicator of this rank has failed, or if another
  /// rank has ended the run. Does not block. Also records completed calls in
  /// the flight recorder (log of a rank's latest activities).
  Status poll() override;
  /// Returns the error for a wait that was too long: this rank has waited for
  /// the GPU for `seconds` seconds. The exit code is 14. The message names the
  /// oldest NCCL call that the GPU has not completed, and the ranks for which
  /// the call waits. If the GPU has completed all NCCL calls, the message
  /// instead states that the GPU was not done in time.
  Status missed(double seconds) override;
  /// Blocks until the GPU has completed all work on its compute stream,
  /// gpu.stream(). Returns an error if the wait is longer than
  /// `deadlineSeconds`, or if the run has failed.
  Status waitForAll() { return waitFor(gpu.stream()); }
  /// Returns a counter that changes whenever the GPU completes an NCCL call.
  uint64_t progress() const override;
  /// Ends the run on all ranks with error `why`, and aborts this rank's
  /// communicators. A second call does nothing.
  void abort(const Status &why);

  CudaContext &gpu;
  const int rank, size; ///< world rank, and number of ranks
  const std::shared_ptr<Rendezvous> rendezvous;
  const std::shared_ptr<FlightRecorder> recorder;
  NcclLibrary library;
  /// Longest time, in seconds, that this rank waits for other ranks or the GPU.
  std::atomic<double> deadlineSeconds{600.0};

private:
  /// Description of one NCCL call. note() stores the description before this
  /// rank makes the call. If the GPU does not complete the call in time, the
  /// error message is made from the description. For example, the message
  /// contains the name "all_reduce" and the ranks for which the call waits.
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
  /// Number of NCCL calls that the list `calls` can store. If the list is full,
  /// a new call overwrites the oldest call. The flight recorder (log of a
  /// rank's latest activities) can store the same number of entries.
  static constexpr size_t kMostCalls = FlightRecorder::kCapacity;

  /// Creates a lane, which is an NCCL communicator with a CUDA stream. The
  /// communicator of the lane is `comm`. openLane() creates the stream. Appends
  /// the new lane to the list `lanes`, and sets `lane` to a copy of it. Returns
  /// an error if this rank already has kMostLanes lanes.
  Status openLane(ncclComm_t comm, NcclLane &lane);
  /// Allocates the 4 bytes of GPU memory that connectEdge() and connectAll()
  /// send, and sets `word` to their address. A second call does nothing.
  Status findWord();
  /// Blocks until the GPU has completed all work on the CUDA stream `stream`.
  /// Returns an error if a CUDA or NCCL call fails, if a rank ends the run by
  /// an error, or if the wait is longer than `deadlineSeconds`.
  Status waitFor(CUstream stream);
  /// Ends all NCCL communicators of this rank. After a successful run
  /// (`isSound`), finalizes them together with the other ranks. After an error,
  /// aborts them without the other ranks. Waits at most 10 s.
  void end(bool isSound);
  /// Returns whether the GPU has completed the call.
  bool isDone(const QueuedCall &call) const;
  /// Updates the flight recorder (log of a rank's latest activities). Each NCCL
  /// call has an entry in the log. For each call that the GPU has completed
  /// since the previous closeCalls(), sets the end time of the call's entry to
  /// the current time. Does not block.
  void closeCalls();
  /// Updates the flight recorder (log of a rank's latest activities) while the
  /// GPU executes a captured CUDA graph. The GPU runs the NCCL calls of the
  /// graph without the host. Each complete call gets an entry with a begin time
  /// and an end time. The first incomplete call gets an entry with a begin time
  /// only. Later calls get no entry. Does not block. Does nothing if the GPU
  /// executes no graph.
  void closeRecorded();
  /// Returns the oldest call that the GPU has not completed; null if there is
  /// none.
  const QueuedCall *findOpen() const;
  /// Begins an entry for `call` in the flight recorder (log of a rank's latest
  /// activities).
  void tellRecorder(QueuedCall &call);
  /// Returns the world ranks for which `call` may be waiting. A world rank is
  /// the number of a rank among all ranks of the run.
  std::vector<int> awaitedBy(const QueuedCall &call) const;

  /// Address of 4 bytes of GPU memory; null before the first findWord(). NCCL
  /// connects two ranks only when they communicate for the first time.
  /// connectEdge() and connectAll() therefore transfer these 4 bytes between
  /// ranks. The value of the bytes does not matter.
  void *word = nullptr;
  /// All lanes of this rank. A lane is an NCCL communicator with a CUDA stream.
  /// `lanes[i]` is the lane with number i. The communicator of `lanes[0]`
  /// contains all ranks of the run. Each call of split() by which this rank
  /// joins a set of ranks appends one lane.
  std::vector<NcclLane> lanes;
  /// Communicator handles, which ncclCommSplit sets asynchronously. A deque
  /// keeps their addresses valid.
  std::deque<ncclComm_t> splits;
  /// `given[i]` is the number of the latest NCCL call on lane i. A lane is an
  /// NCCL communicator with a CUDA stream. NcclGroup calls note() directly
  /// before each NCCL call, and note() gives the NCCL call a number. The first
  /// NCCL call of each lane gets number 1. Before the first NCCL call of lane
  /// i, `given[i]` is 0. The GPU may not yet have completed the latest NCCL
  /// call.
  std::vector<uint32_t> given;
  /// `done[i]` is the number of the latest NCCL call that the GPU has completed
  /// on lane i (communicator and stream). Each lane numbers its own calls. The
  /// first call of a lane has number 1. The array has kMostLanes elements in
  /// pinned host memory. The GPU writes `done[i]` after each NCCL call on lane
  /// i, and the host reads it.
  volatile uint32_t *done = nullptr;
  static constexpr size_t kMostLanes = 1024;
  /// Descriptions of the latest kMostCalls NCCL calls outside CUDA graphs.
  /// Directly before each NCCL call, NcclGroup calls note(), and note() stores
  /// the description. The list is a ring buffer: NCCL call i, counted from 0,
  /// is at index i % kMostCalls. For example, kMostCalls is 512. NCCL call 513
  /// is at index 1, and has overwritten NCCL call 1.
  ///
  /// NCCL calls in a captured CUDA graph are in the list `recorded` instead.
  std::vector<QueuedCall> calls;
  /// `numCalls` is the number of NCCL calls outside CUDA graphs for which
  /// note() was called. These calls have the indices 0 to `numCalls` - 1.
  /// `firstOpen` is the index of the oldest call that may be incomplete. If all
  /// calls are complete, `firstOpen` equals `numCalls`.
  ///
  /// The list `calls` stores only the latest kMostCalls calls. closeCalls()
  /// treats all older calls as complete.
  size_t numCalls = 0, firstOpen = 0;
  /// Descriptions of the NCCL calls in the captured CUDA graph, in the order in
  /// which this rank made the calls during the capture. For example, this rank
  /// first called ncclAllReduce and then ncclSend. `recorded[0]` describes the
  /// all-reduce, and `recorded[1]` describes the send. Each execution of the
  /// graph executes the all-reduce and the send again.
  std::vector<QueuedCall> recorded;
  /// `before[i]` is the number of the latest NCCL call on lane i (communicator
  /// and stream) before the capture of the CUDA graph. For example, the graph
  /// contains calls 6 and 7 of lane 0. `before[0]` is 5.
  std::vector<uint32_t> before;
  /// Number of calls at the start of the list `recorded` that are complete in
  /// the current execution of the CUDA graph. For example, `numReplayed` is 2.
  /// The GPU has completed `recorded[0]` and `recorded[1]`. beginReplay() sets
  /// `numReplayed` to 0 before each execution.
  size_t numReplayed = 0;
  bool isRecording = false, isReplaying = false;
  /// Error that was passed to abort(); success if abort() has not been called.
  Status aborted;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLJOB_H
