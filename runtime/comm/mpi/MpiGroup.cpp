//===- MpiGroup.cpp - collectives made of MPI point-to-point messages -----===//

#include "runtime/comm/mpi/MpiGroup.h"

#include "runtime/comm/GroupList.h"
#include "runtime/comm/TreeReduce.h"
#include "runtime/comm/mpi/Backoff.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace pcc::runtime {

/// Size in bytes of the largest array for which allReduce() calls reduceSmall()
/// in a group of several members. In reduceSmall(), each member sends its whole
/// array to every other member, in one round of messages. For a larger array,
/// allReduce() calls reduceShares(), which needs two rounds of messages. In a
/// group of more than 2 members, a member sends fewer bytes in reduceShares()
/// than in reduceSmall().
static constexpr size_t kSmallReduction = 4096;
/// Size in bytes of one block: 16 MiB. A large all-reduce divides the array
/// into blocks of this size, and reduces one block after another. During the
/// reduction of a block, a member stores elements that it has received from the
/// other members in the array `scratch`. With blocks, the size of `scratch` is
/// about one block, however large the array is.
static constexpr size_t kReductionBlock = size_t(16) << 20;

MpiGroup::MpiGroup(std::shared_ptr<MpiJob> sharedJob,
                   std::vector<int> worldRanks, int messageTag,
                   std::shared_ptr<std::atomic<double>> seconds,
                   std::shared_ptr<FlightRecorder> ownRecorder)
    : job(std::move(sharedJob)), members(std::move(worldRanks)),
      self(indexAmong(members, job->rank())), tag(messageTag),
      deadlineSeconds(std::move(seconds)), recorder(std::move(ownRecorder)),
      posts(*recorder), inputs(members.size()) {
  assert(self >= 0 && "this rank is no member");
}

CallSite MpiGroup::siteOf(std::string_view call, const ActionId &action) const {
  return {job->rank(), call, action, members};
}

//===----------------------------------------------------------------------===//
// One round of messages
//===----------------------------------------------------------------------===//

TransferFault MpiGroup::post(const PeerBuffer &piece, bool receives) {
  char *data = static_cast<char *>(piece.data);
  size_t left = piece.size;
  do {
    const size_t bytes = std::min(left, MpiJob::kLargestMessage);
    const int peer = members[piece.peer];
    TransferFault fault = receives
                              ? job->receive(underWay, data, bytes, peer, tag)
                              : job->send(underWay, data, bytes, peer, tag);
    if (fault.kind != TransferFault::None)
      return fault;
    data += bytes;
    left -= bytes;
  } while (left > 0);
  return {};
}

/// Copies the message that this member sends to itself, if there is one.
/// `sends` and `receives` are the messages that this member sends and receives.
/// `self` is the member's own index in the group. The element of `sends` with
/// peer `self` is the source, and the element of `receives` with peer `self` is
/// the target.
///
/// Returns true if the message was copied, or if both lists lack an element
/// with peer `self`. Returns false if only one list lacks it, or if the sizes
/// differ.
static bool copyOwnPiece(std::span<const PeerBuffer> sends,
                         std::span<const PeerBuffer> receives, int self) {
  auto isOwn = [&](const PeerBuffer &piece) { return piece.peer == self; };
  const auto send = std::find_if(sends.begin(), sends.end(), isOwn);
  const auto receive = std::find_if(receives.begin(), receives.end(), isOwn);
  if (send == sends.end() || receive == receives.end())
    return send == sends.end() && receive == receives.end();
  if (send->size != receive->size)
    return false;
  if (send->size > 0 && send->data != receive->data)
    std::memcpy(receive->data, send->data, send->size);
  return true;
}

Status MpiGroup::begin(std::span<const PeerBuffer> sends,
                       std::span<const PeerBuffer> receives,
                       const CallSite &site) {
  job->lookForAbort();
  if (job->aborted())
    return job->abortReason();
  if (!copyOwnPiece(sends, receives, self))
    return endRun(mismatchedCalls(site, job->rank()));
  if (underWay.pending == 0)
    underWay.clear();
  ++underWay.ticket;
  // Post receives first, so that MPI can write arriving data directly to its
  // destination.
  for (const PeerBuffer &piece : receives)
    if (piece.peer != self)
      if (auto fault = post(piece, /*receives=*/true); fault.kind)
        return describe(fault, site);
  for (const PeerBuffer &piece : sends)
    if (piece.peer != self)
      if (auto fault = post(piece, /*receives=*/false); fault.kind)
        return describe(fault, site);
  return Status::success();
}

bool MpiGroup::isUnderWay(size_t index, std::span<const Ticket> tickets) const {
  return !job->hasEnded(underWay.requests[index]) &&
         std::find(tickets.begin(), tickets.end(),
                   underWay.transfers[index].ticket) != tickets.end();
}

bool MpiGroup::isComplete(std::span<const Ticket> tickets) const {
  for (size_t i = 0; underWay.pending > 0 && i < underWay.requests.size(); ++i)
    if (isUnderWay(i, tickets))
      return false;
  return true;
}

void MpiGroup::advance() {
  if (found.kind == TransferFault::None)
    found = job->poll(underWay);
}

void MpiGroup::noteMissing(std::span<const Ticket> tickets,
                           FlightRecorder::Entry entry) {
  recorder->clearPeers(entry);
  for (size_t i = 0; underWay.pending > 0 && i < underWay.requests.size(); ++i)
    if (isUnderWay(i, tickets))
      recorder->addPeer(entry, underWay.transfers[i].peer);
}

Status MpiGroup::wait(std::span<const Ticket> tickets, const CallSite &site) {
  const auto entry = recorder->begin(FlightKind::Wait, site.call, site.action);
  noteMissing(tickets, entry);
  Status status = waitNoted(tickets, site, entry);
  // After a failure, the wait's entry in the flight recorder stays in progress.
  // A failure report then shows this wait.
  if (status.ok())
    recorder->end(entry);
  return status;
}

/// Polls MPI until all transfers of `tickets` (handles of post() calls) are
/// complete. The flight recorder is a log of a rank's latest activities. Its
/// entry `entry` describes this wait. While this function polls, it keeps the
/// recorder up to date:
///
/// - It repeatedly stores the current time as the latest time at which this
///   rank was active.
/// - About every 50 ms, it stores in `entry` the ranks whose transfers with
///   this rank are incomplete.
Status MpiGroup::waitNoted(std::span<const Ticket> tickets,
                           const CallSite &site, FlightRecorder::Entry entry) {
  constexpr double notesEvery = 0.05;
  double noted = 0;
  Backoff backoff(job->oversubscribed());
  for (;;) {
    advance();
    if (found.kind != TransferFault::None)
      return describe(found, site);
    if (isComplete(tickets))
      return Status::success();
    if (backoff.timeToLookAround()) {
      recorder->heartbeat();
      if (backoff.waited() - noted > notesEvery) {
        noted = backoff.waited();
        noteMissing(tickets, entry);
      }
      job->lookForAbort();
      if (job->aborted())
        return job->abortReason();
      const double deadline = deadlineSeconds->load();
      if (backoff.waited() >= deadline)
        return endRun(missedDeadline(site, deadline, missing(tickets)));
    }
    backoff.pause();
  }
}

std::vector<int> MpiGroup::missing(std::span<const Ticket> tickets) const {
  std::vector<int> ranks;
  for (size_t i = 0; i < underWay.requests.size(); ++i)
    if (isUnderWay(i, tickets))
      ranks.push_back(underWay.transfers[i].peer);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Cancels this group's pending receives before it ends the run. A pending
/// receive is one whose data has not completely arrived. MPI would write this
/// data to memory of the caller, such as the memory of a tensor. If the caller
/// frees this memory after the error, MPI must no longer write to it.
Status MpiGroup::endRun(const Status &reason) {
  job->cancel(underWay);
  job->abort(reason);
  return job->abortReason();
}

Status MpiGroup::describe(const TransferFault &fault, const CallSite &site) {
  if (fault.kind == TransferFault::Mismatch)
    return endRun(mismatchedCalls(site, fault.peer));
  return endRun(Status::error(
      PeerLost, "rank " + std::to_string(site.rank) + ": " +
                    describeCall(site.call, site.action) + " lost rank " +
                    std::to_string(fault.peer) + ": " + fault.text));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Returns a description of a message that this member sends to the member
/// `peer`, or receives from the member `peer`. `peer` is an index in the group.
/// The message has `bytes` bytes. `data` is the memory of the message. A send
/// only reads the memory. A receive writes to the memory, although the type of
/// `data` is a pointer to constant data. The memory must then be writable.
static PeerBuffer pieceOf(int peer, const void *data, size_t bytes) {
  return {peer, const_cast<void *>(data), bytes};
}

Status MpiGroup::post(std::span<const PeerBuffer> sends,
                      std::span<const PeerBuffer> receives,
                      const ActionId &action, Ticket &ticket) {
  Status status = begin(sends, receives, siteOf("exchange", action));
  ticket = underWay.ticket;
  posts.add(ticket, sends, receives, members, action);
  return status;
}

Status MpiGroup::wait(std::span<const Ticket> tickets, const ActionId &action) {
  Status status = wait(tickets, siteOf("exchange", action));
  if (status.ok())
    posts.end(tickets);
  return status;
}

Status MpiGroup::runPieces(const CallSite &site) {
  PCC_RETURN_IF_ERROR(begin(toSend, toGet, site));
  const Ticket ticket = underWay.ticket;
  return wait({&ticket, 1}, site);
}

Status MpiGroup::barrier(const ActionId &action) {
  toSend.clear();
  toGet.clear();
  for (int turn = 1; turn < size(); ++turn) {
    toSend.push_back(pieceOf(peerAt(turn), nullptr, 0));
    toGet.push_back(pieceOf(peerAt(turn), nullptr, 0));
  }
  return runPieces(siteOf("barrier", action));
}

Status MpiGroup::broadcast(void *data, size_t bytes, int root,
                           const ActionId &action) {
  assert(root >= 0 && root < size() && "no member");
  toSend.clear();
  toGet.clear();
  if (self != root)
    toGet.push_back({root, data, bytes});
  for (int turn = 1; self == root && turn < size(); ++turn)
    toSend.push_back({peerAt(turn), data, bytes});
  return runPieces(siteOf("broadcast", action));
}

/// Uses one round of messages: each member sends its input to every member,
/// itself included.
Status MpiGroup::allGather(const void *in, void *out, size_t bytes,
                           const ActionId &action) {
  char *target = static_cast<char *>(out);
  toSend.assign(1, pieceOf(self, in, bytes));
  toGet.assign(1, pieceOf(self, target + self * bytes, bytes));
  for (int turn = 1; turn < size(); ++turn) {
    const int peer = peerAt(turn);
    toSend.push_back(pieceOf(peer, in, bytes));
    toGet.push_back(pieceOf(peer, target + peer * bytes, bytes));
  }
  return runPieces(siteOf("all_gather", action));
}

/// Arguments of reduceSmall() and reduceShares(), which all-reduce `count`
/// elements. `in` points to this member's elements, and `out` points to the
/// memory for the results. reduceSmall() all-reduces a whole array.
/// reduceShares() all-reduces one block: a range of at most 16 MiB of a larger
/// array.
struct MpiGroup::Sum {
  const char *in;
  char *out;
  size_t count; ///< elements
  ElementType type;
  dist::ReductionKind kind;
};

/// Reduces the elements of all members by one of two algorithms. For at most
/// 4096 bytes (kSmallReduction), each member sends all its elements to every
/// other member (reduceSmall()), in one round of messages. For more bytes, each
/// member reduces only its share, and sends the result to every other member
/// (reduceShares()). reduceShares() needs two rounds for each 16 MiB
/// (kReductionBlock), but sends fewer bytes in a group of more than 2 members.
/// For example, 4 members all-reduce 8 MiB. Each member sends 12 MiB instead of
/// 24 MiB.
Status MpiGroup::allReduce(const void *in, void *out, size_t count,
                           ElementType type, dist::ReductionKind kind,
                           const ActionId &action) {
  const CallSite site = siteOf("all_reduce", action);
  const size_t elementSize = sizeOf(type);
  Sum sum{static_cast<const char *>(in), static_cast<char *>(out), count, type,
          kind};
  if (count * elementSize <= kSmallReduction || size() == 1)
    return reduceSmall(sum, site);
  const size_t blockCount = kReductionBlock / elementSize;
  for (size_t left = count; left > 0; left -= sum.count) {
    sum.count = std::min(left, blockCount);
    PCC_RETURN_IF_ERROR(reduceShares(sum, site));
    sum.in += sum.count * elementSize;
    sum.out += sum.count * elementSize;
  }
  return Status::success();
}

/// All-reduces a small array. Each member sends its whole array to every other
/// member, and then reduces all arrays itself. For example, member 0 has the
/// array {1, 2}, member 1 has the array {10, 20}, and the reduction is a sum.
/// Member 0 receives {10, 20}, and member 1 receives {1, 2}. Both members
/// compute {11, 22}.
///
/// `sum` describes this member's array, the memory for the results, and the
/// reduction. `site` describes the call of allReduce() for error messages.
Status MpiGroup::reduceSmall(const Sum &sum, const CallSite &site) {
  const size_t bytes = sum.count * sizeOf(sum.type);
  scratch.resize(std::max(scratch.size(), bytes * size()));
  toSend.clear();
  toGet.clear();
  inputs[self] = sum.in;
  for (int turn = 1; turn < size(); ++turn) {
    const int peer = peerAt(turn);
    inputs[peer] = scratch.data() + peer * bytes;
    toSend.push_back(pieceOf(peer, sum.in, bytes));
    toGet.push_back(pieceOf(peer, inputs[peer], bytes));
  }
  PCC_RETURN_IF_ERROR(runPieces(site));
  void *output = sum.out;
  reduceInTree(inputs, {&output, 1}, 0, sum.count, sum.type, sum.kind);
  return Status::success();
}

/// All-reduces one block of an array in two rounds of messages: a
/// reduce-scatter, then an all-gather. `sum` describes this member's elements
/// of the block. `site` describes the call for error messages. An example with
/// 2 members, 2 elements and a sum:
///
///              member 0          member 1
///   before     a0 a1             b0 b1
///   round 1    a0 + b0           a1 + b1
///   round 2    both results      both results
Status MpiGroup::reduceShares(const Sum &sum, const CallSite &site) {
  const size_t elementSize = sizeOf(sum.type);
  const size_t share = (sum.count + size() - 1) / size();
  auto begin = [&](int i) { return std::min(sum.count, share * i); };
  auto offset = [&](int i) { return begin(i) * elementSize; };
  auto bytes = [&](int i) { return offset(i + 1) - offset(i); };
  const size_t ownBytes = bytes(self);
  scratch.resize(std::max(scratch.size(), ownBytes * size()));
  toSend.clear();
  toGet.clear();
  inputs[self] = sum.in + offset(self);
  for (int turn = 1; turn < size(); ++turn) {
    const int peer = peerAt(turn);
    inputs[peer] = scratch.data() + peer * ownBytes;
    toSend.push_back(pieceOf(peer, sum.in + offset(peer), bytes(peer)));
    toGet.push_back(pieceOf(peer, inputs[peer], ownBytes));
  }
  PCC_RETURN_IF_ERROR(runPieces(site));

  char *own = sum.out + offset(self);
  void *output = own;
  reduceInTree(inputs, {&output, 1}, 0, begin(self + 1) - begin(self), sum.type,
               sum.kind);
  toSend.clear();
  toGet.clear();
  for (int turn = 1; turn < size(); ++turn) {
    const int peer = peerAt(turn);
    toSend.push_back(pieceOf(peer, own, ownBytes));
    toGet.push_back(pieceOf(peer, sum.out + offset(peer), bytes(peer)));
  }
  return runPieces(site);
}

} // namespace pcc::runtime
