//===- NcclJob.cpp - NCCL communicators of a rank and their supervision ---===//

#include "runtime/comm/nccl/NcclJob.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace pcc::runtime {

/// Longest times, in seconds, for which end() waits for NCCL. `kPatience`:
/// after an error, when NCCL may wait forever for a lost peer.
/// `kPatienceWithPeers`: after success, when a peer may only be late.
static constexpr std::chrono::seconds kPatience(2), kPatienceWithPeers(10);

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Ends communicators together with the peers.
///
/// 1. Finalizes the communicators in the order of creation. Finalizing is
///    collective, so all ranks must use the same order.
/// 2. Destroys the communicators in the reverse order. A communicator must be
///    destroyed before the one from which it was split.
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

/// Aborts communicators without the peers. All aborts are in one NCCL group
/// call, so that pending calls of all communicators are canceled together.
/// Otherwise the abort of one communicator could block on a pending call of
/// another.
static void endAlone(const NcclLibrary &library,
                     const std::vector<NcclLane> &lanes) {
  library.ncclGroupStart();
  for (size_t i = lanes.size(); i-- > 0;)
    library.ncclCommAbort(lanes[i].comm);
  library.ncclGroupEnd();
}

/// Ends the communicators on a detached thread, because NCCL may block forever.
/// Returns when the thread is done, or when the time limit passes. If the limit
/// passes, the GPU's resources are freed only when the process ends.
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

/// Creates NCCL's unique id on rank 0, and sends it to all ranks over the
/// rendezvous (socket connections of all ranks).
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

/// Waits in two steps: for the parent communicator until the split is done,
/// then for the new communicator until it is initialized.
Status NcclJob::split(int color, int key, int mostBlocks, NcclLane &lane) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.maxCTAs = mostBlocks;
  // NCCL sets `comm` only once all ranks have called, even if this call returns
  // ncclSuccess. Therefore wait as for ncclInProgress.
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
  // assign() reuses the strings' memory, so that a step allocates nothing.
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

/// Resets each lane's counter to its value before the capture, because the
/// replay writes the numbers of the captured calls again. For example, the
/// capture contains calls 6 and 7 of a lane. The counter is set to 5, and the
/// replay then writes 6 and 7. No other call may be in flight, because it would
/// write a counter, too.
void NcclJob::beginReplay() {
  closeCalls();
  isRecording = false;
  isReplaying = true;
  numReplayed = 0;
  for (size_t lane = 0; lane < before.size(); ++lane)
    done[lane] = before[lane];
}

/// Enqueues the write of the lane's counter on the lane's stream. The write is
/// thus captured in a CUDA graph together with the call.
Status NcclJob::noteEnd(const NcclLane &lane) {
  const auto place = reinterpret_cast<CUdeviceptr>(&done[lane.number]);
  return gpu.check(
      gpu.driver().cuStreamWriteValue32(lane.stream, place, given[lane.number],
                                        CU_STREAM_WRITE_VALUE_DEFAULT),
      "cuStreamWriteValue32");
}

/// Compares the call's number with the lane's counter of completed calls by
/// their signed difference. The sign is right even if the 32-bit numbers
/// overflow.
bool NcclJob::isDone(const QueuedCall &call) const {
  return int32_t(done[call.lane] - call.number) >= 0;
}

/// Ends the flight recorder's entries of all completed calls. Calls of
/// different lanes complete in any order. `firstOpen` stops at the oldest
/// incomplete call: if calls 3 and 5 are complete and call 4 is not,
/// `firstOpen` is 4. Skips calls that the ring buffer has overwritten.
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

/// Keeps one flight recorder entry in progress during the replay of a CUDA
/// graph: the entry of the oldest incomplete call of the replay.
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
    // The replay is over. Set each lane's counter to the number of the lane's
    // latest enqueued call, so that later calls outside the graph are tracked
    // again.
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

/// Returns the members that may be missing in a call. For a message, this is
/// the peer. For a collective, NCCL does not report which members have arrived,
/// so all other members are returned.
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

// Transfers 4 bytes, whose value does not matter, from rank 0 to rank 1 of the
// lane.
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
    // A stream is also idle after its call was aborted. Therefore check for
    // errors before `isDone` is used.
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
