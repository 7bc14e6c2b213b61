//===- NcclJob.cpp - NCCL communicators of a rank and their supervision ---===//

#include "runtime/comm/nccl/NcclJob.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace pcc::runtime {

/// Longest times for which end() waits for NCCL. kPatience applies after an
/// error, when NCCL may wait forever for a lost rank. kPatienceWithPeers
/// applies after a successful run.
static constexpr std::chrono::seconds kPatience(2), kPatienceWithPeers(10);

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Ends all NCCL communicators of this rank after a successful run. The list
/// `lanes` contains the communicators in the order of their creation. All ranks
/// must call endWithPeers().
///
/// 1. Finalizes the communicators in the order of their creation.
///    ncclCommFinalize is a collective, so all ranks need the same order.
/// 2. Destroys the communicators in the reverse order. The first communicator
///    of the list contains all ranks. ncclCommSplit has created all other
///    communicators from the first communicator, so the first communicator is
///    destroyed last.
static void endWithPeers(const NcclLibrary &library,
                         const std::vector<NcclLane> &lanes) {
  for (const NcclLane &lane : lanes) {
    ncclResult_t state = library.ncclCommFinalize(lane.comm);
    while (state == ncclInProgress &&
           library.ncclCommGetAsyncError(lane.comm, &state) == ncclSuccess)
      std::this_thread::yield();
  }
  for (size_t i = lanes.size(); i-- > 0;)
    library.ncclCommDestroy(lanes[i].comm);
}

/// Aborts the NCCL communicators of `lanes` after an error. Other ranks need
/// not take part. ncclGroupStart() and ncclGroupEnd() enclose all calls of
/// ncclCommAbort, so that NCCL aborts all communicators together. Otherwise the
/// abort of one communicator could block, because it waits for a hanging call
/// of another communicator.
static void endAlone(const NcclLibrary &library,
                     const std::vector<NcclLane> &lanes) {
  library.ncclGroupStart();
  for (size_t i = lanes.size(); i-- > 0;)
    library.ncclCommAbort(lanes[i].comm);
  library.ncclGroupEnd();
}

/// Ends all NCCL communicators of this rank on a separate thread, because an
/// NCCL call may block forever. The caller waits until the thread has ended
/// them. The wait lasts at most kPatienceWithPeers (10 s) after a successful
/// run (`isSound`), and at most kPatience (2 s) after an error.
///
/// If the thread needs longer, the thread may still use the memory and the
/// streams of the GPU. leaveToProcess() therefore leaves them allocated until
/// the process ends.
void NcclJob::end(bool isSound) {
  if (lanes.empty())
    return;
  auto ended = std::make_shared<std::promise<void>>();
  std::future<void> isEnded = ended->get_future();
  std::thread([ended, adopt = gpu.adopter(), all = std::exchange(lanes, {}),
               functions = library, isSound] {
    adopt();
    (isSound ? endWithPeers : endAlone)(functions, all);
    ended->set_value();
  }).detach();
  if (isEnded.wait_for(isSound ? kPatienceWithPeers : kPatience) ==
      std::future_status::timeout)
    gpu.leaveToProcess();
}

NcclJob::~NcclJob() { end(aborted.ok()); }

Status NcclJob::openLane(ncclComm_t comm, NcclLane &lane) {
  if (lanes.size() == kMostLanes)
    return Status::error(Defect, "a rank has more than " +
                                     std::to_string(kMostLanes) +
                                     " communicators");
  lane = {comm, nullptr, lanes.size()};
  PCC_RETURN_IF_ERROR(gpu.createStream(lane.stream));
  lanes.push_back(lane);
  given.push_back(0);
  return Status::success();
}

/// Rank 0 creates NCCL's unique id, and broadcasts it over the rendezvous
/// (sockets between all ranks).
Status NcclJob::open() {
  PCC_RETURN_IF_ERROR(openNcclLibrary(library));
  void *counters = nullptr;
  PCC_RETURN_IF_ERROR(
      gpu.allocatePinned(kMostLanes * sizeof(uint32_t), counters));
  done = static_cast<uint32_t *>(counters);
  calls.resize(kMostCalls);
  ncclUniqueId id = {};
  if (rank == 0)
    PCC_RETURN_IF_ERROR(
        library.check(library.ncclGetUniqueId(&id), "ncclGetUniqueId"));
  PCC_RETURN_IF_ERROR(rendezvous->broadcast(
      std::as_writable_bytes(std::span(id.internal, sizeof id.internal)),
      deadlineSeconds));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const ncclResult_t result =
      library.ncclCommInitRankConfig(&comm, size, id, rank, &config);
  PCC_RETURN_IF_ERROR(settle(result, comm, "ncclCommInitRankConfig"));
  NcclLane lane;
  return openLane(comm, lane);
}

/// Creates communicators by ncclCommSplit. The call of ncclCommSplit is
/// non-blocking, so split() waits for NCCL two times:
///
/// 1. Until ncclCommSplit is complete on the communicator of all ranks. From
///    then on, the handle of the new communicator is valid.
/// 2. Until NCCL has initialized the new communicator. With color noColor, this
///    rank gets no new communicator, and split() does not wait a second time.
Status NcclJob::split(int color, int key, int mostBlocks, NcclLane &lane) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.maxCTAs = mostBlocks;
  // Wait even if ncclCommSplit returns ncclSuccess: NCCL sets `comm` only when
  // all ranks have called ncclCommSplit.
  ncclComm_t &comm = splits.emplace_back(nullptr);
  const ncclResult_t result =
      library.ncclCommSplit(everybody().comm, color, key, &comm, &config);
  PCC_RETURN_IF_ERROR(settle(result == ncclSuccess ? ncclInProgress : result,
                             everybody().comm, "ncclCommSplit"));
  if (color == noColor)
    return Status::success();
  PCC_RETURN_IF_ERROR(settle(ncclInProgress, comm, "ncclCommSplit"));
  return openLane(comm, lane);
}

Status NcclJob::settle(ncclResult_t result, ncclComm_t comm, const char *call) {
  const auto begin = std::chrono::steady_clock::now();
  while (result == ncclInProgress) {
    if (ncclResult_t asked = library.ncclCommGetAsyncError(comm, &result);
        asked != ncclSuccess)
      result = asked;
    if (result != ncclInProgress)
      break;
    PCC_RETURN_IF_ERROR(rendezvous->poll());
    if (secondsSince(begin) > deadlineSeconds)
      return Status::error(PeerLost, "rank " + std::to_string(rank) + ": " +
                                         call + " did not end in time");
    std::this_thread::yield();
  }
  return library.check(result, call);
}

void NcclJob::tellRecorder(QueuedCall &call) {
  call.isOpen = true;
  call.entry = recorder->begin(FlightKind::Wait, call.name, call.action);
  for (int member : call.members)
    if (call.peer < 0 ? member != rank : member == call.peer)
      recorder->addPeer(call.entry, member);
}

void NcclJob::note(const NcclLane &lane, const char *name,
                   const ActionId &action, std::span<const int> members,
                   int peer) {
  closeRecorded();
  QueuedCall &call =
      isRecording ? recorded.emplace_back() : calls[numCalls++ % kMostCalls];
  // Set the strings of `call` by assign(), which reuses their memory: a step
  // must not allocate memory.
  call.lane = lane.number;
  call.number = ++given[lane.number];
  call.name = name;
  call.action.action.assign(action.action);
  call.action.value.assign(action.value);
  call.members = members;
  call.peer = peer;
  if (!isRecording)
    tellRecorder(call);
}

void NcclJob::beginRecording() {
  isRecording = true;
  before = given;
}

/// Sets the counters in `done` back before the GPU executes the CUDA graph.
/// Each lane (communicator and stream) has one counter: the number of the
/// latest NCCL call that the GPU has completed on the lane.
///
/// For example, the graph contains calls 6 and 7 of a lane. The first execution
/// of the graph sets the lane's counter to 6 and then to 7. Before the second
/// execution, beginReplay() sets the counter back to 5. Otherwise the counter
/// would still be 7, and calls 6 and 7 would count as complete before the GPU
/// executes them again.
void NcclJob::beginReplay() {
  closeCalls();
  isRecording = false;
  isReplaying = true;
  numReplayed = 0;
  for (size_t lane = 0; lane < before.size(); ++lane)
    done[lane] = before[lane];
}

/// Enqueues a write on the stream of `lane`, behind the latest NCCL call of the
/// stream. The GPU executes the write when the NCCL call is complete. The write
/// stores the NCCL call's number in `done[lane.number]`, which is in host
/// memory. If the stream is being captured as a CUDA graph, the graph contains
/// the NCCL call and the write. Each execution of the graph then executes both.
Status NcclJob::noteEnd(const NcclLane &lane) {
  const auto place = reinterpret_cast<CUdeviceptr>(&done[lane.number]);
  return gpu.check(
      gpu.driver().cuStreamWriteValue32(lane.stream, place, given[lane.number],
                                        CU_STREAM_WRITE_VALUE_DEFAULT),
      "cuStreamWriteValue32");
}

/// Returns whether the counter `done[call.lane]` has reached the number of
/// `call`. The counter is the number of the latest NCCL call that the GPU has
/// completed on the same CUDA stream. If the counter is 7, calls 6 and 7 are
/// done, and call 8 is not.
///
/// The numbers have 32 bits, so number 0 follows number 4294967295. The sign of
/// the 32-bit difference is correct even then. If the counter is 1 and the call
/// has number 4294967295, the difference is 2, and the call is done.
bool NcclJob::isDone(const QueuedCall &call) const {
  return int32_t(done[call.lane] - call.number) >= 0;
}

/// Checks all calls from index `firstOpen` on. `firstOpen` is the index of the
/// oldest call that may be incomplete. A newer call can be complete before an
/// older call, because the calls run on different CUDA streams.
///
/// For example, `firstOpen` is 3. Calls 3 and 5 are complete, and call 4 is
/// not. closeCalls() sets the end times of calls 3 and 5 in the flight recorder
/// (log of a rank's latest activities). `firstOpen` becomes 4.
void NcclJob::closeCalls() {
  closeRecorded();
  firstOpen = std::max(firstOpen, numCalls - std::min(numCalls, calls.size()));
  for (size_t i = firstOpen; i < numCalls; ++i) {
    QueuedCall &call = calls[i % kMostCalls];
    if (call.isOpen && isDone(call)) {
      call.isOpen = false;
      recorder->end(call.entry);
    }
    if (!call.isOpen && i == firstOpen)
      ++firstOpen;
  }
}

/// Finds the NCCL calls of the CUDA graph that the GPU has completed, by the
/// counters in `done`. Each counter is the number of the latest completed call
/// on one CUDA stream. The list `recorded` has all calls of the graph in order.
/// The first `numReplayed` calls of this list are already known to be complete.
/// For each following call:
///
/// 1. If the call has no entry in the flight recorder (log of a rank's latest
///    activities), begins an entry.
/// 2. If the call is complete, ends the entry, and goes on to the next call. If
///    the call is incomplete, returns.
void NcclJob::closeRecorded() {
  while (isReplaying && numReplayed < recorded.size()) {
    QueuedCall &call = recorded[numReplayed];
    if (!call.isOpen)
      tellRecorder(call);
    if (!isDone(call))
      return;
    call.isOpen = false;
    recorder->end(call.entry);
    ++numReplayed;
  }
  if (isReplaying) {
    // The GPU has completed all NCCL calls of the CUDA graph. `done[lane]` must
    // again be the number of the latest completed NCCL call on the lane
    // (communicator and stream). This number is `given[lane]`.
    //
    // For example, the graph contains calls 6 and 7 of the lane. After the
    // capture of the graph, the rank has made calls 8 and 9 outside the graph.
    // Then the GPU has executed the graph, and has set `done[lane]` to 7. All
    // four calls are complete, so set `done[lane]` to 9.
    for (size_t lane = 0; lane < before.size(); ++lane)
      done[lane] = given[lane];
    isReplaying = false;
  }
}

const NcclJob::QueuedCall *NcclJob::findOpen() const {
  if (isReplaying)
    return &recorded[numReplayed];
  return firstOpen < numCalls ? &calls[firstOpen % kMostCalls] : nullptr;
}

/// Returns the ranks for which a call may be waiting: the peer of a message, or
/// all other members of a collective. NCCL does not tell which of them have
/// begun the collective.
std::vector<int> NcclJob::awaitedBy(const QueuedCall &call) const {
  if (call.peer >= 0)
    return {call.peer};
  std::vector<int> others(call.members.begin(), call.members.end());
  std::erase(others, rank);
  return others;
}

Status NcclJob::missed(double seconds) {
  closeCalls();
  const QueuedCall *call = findOpen();
  if (!call)
    return Status::error(PeerLost, gpu.description() + " was not done after " +
                                       std::to_string(int64_t(seconds)) + " s");
  return missedDeadline({rank, call->name, call->action, call->members},
                        seconds, awaitedBy(*call));
}

uint64_t NcclJob::progress() const {
  uint64_t sum = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    sum += done[lane];
  return sum;
}

Status NcclJob::findWord() {
  if (word)
    return Status::success();
  PCC_RETURN_IF_ERROR(gpu.allocate(sizeof(int32_t), word));
  return gpu.waitFor(gpu.stream());
}

// Sends 4 arbitrary bytes from rank 0 to rank 1 of the lane, because NCCL
// connects two ranks only at their first message.
Status NcclJob::connectEdge(const NcclLane &lane, int self) {
  PCC_RETURN_IF_ERROR(findWord());
  const ncclResult_t result =
      self == 0 ? library.ncclSend(word, sizeof(int32_t), ncclUint8, 1,
                                   lane.comm, lane.stream)
                : library.ncclRecv(word, sizeof(int32_t), ncclUint8, 0,
                                   lane.comm, lane.stream);
  Status status = settle(result, lane.comm, "a first message");
  return status.failed() ? status : waitFor(lane.stream);
}

Status NcclJob::connectAll(const NcclLane &lane) {
  PCC_RETURN_IF_ERROR(findWord());
  Status status = settle(library.ncclAllReduce(word, word, 1, ncclInt32,
                                               ncclSum, lane.comm, lane.stream),
                         lane.comm, "a first reduction");
  return status.failed() ? status : waitFor(lane.stream);
}

Status NcclJob::waitFor(CUstream stream) {
  const auto begin = std::chrono::steady_clock::now();
  for (bool isDone = false;;) {
    PCC_RETURN_IF_ERROR(gpu.poll(stream, isDone));
    // Check for errors even if the stream is idle: a stream also becomes idle
    // when NCCL aborts a call.
    if (Status status = poll(); status.failed() || isDone)
      return status;
    if (secondsSince(begin) > deadlineSeconds)
      return missed(deadlineSeconds);
    std::this_thread::yield();
  }
}

Status NcclJob::poll() {
  closeCalls();
  recorder->heartbeat();
  if (aborted.failed())
    return aborted;
  PCC_RETURN_IF_ERROR(rendezvous->poll());
  for (const NcclLane &lane : lanes) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = library.ncclCommGetAsyncError(lane.comm, &state);
    PCC_RETURN_IF_ERROR(
        library.check(asked != ncclSuccess ? asked : state, "NCCL"));
  }
  return Status::success();
}

void NcclJob::abort(const Status &why) {
  if (aborted.failed())
    return;
  aborted = why;
  rendezvous->abort(why);
  end(/*isSound=*/false);
}

} // namespace pcc::runtime
