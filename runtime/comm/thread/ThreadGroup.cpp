//===- ThreadGroup.cpp - collectives and messages on shared memory --------===//

#include "runtime/comm/thread/ThreadGroup.h"

#include "runtime/comm/TreeReduce.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace pcc::runtime {

ThreadGroup::ThreadGroup(std::shared_ptr<ThreadRank> owner,
                         std::shared_ptr<GroupState> place, int ownIndex)
    : rank(std::move(owner)), groupState(std::move(place)), self(ownIndex),
      job(*rank->job), recorder(*rank->recorder), posts(recorder),
      inputs(groupState->size()), outputs(groupState->size()) {
  rank->add(*this);
}

ThreadGroup::~ThreadGroup() {
  rank->remove(*this);
  withdraw();
}

CallSite ThreadGroup::siteOf(std::string_view call,
                             const ActionId &action) const {
  return {groupState->members[self], call, action, groupState->members};
}

Clock::time_point ThreadGroup::deadline() const {
  const std::chrono::duration<double> wait(rank->deadlineSeconds->load());
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

Status ThreadGroup::endRun(const Status &reason) {
  job.abort(reason);
  return job.abortReason();
}

void ThreadGroup::noteMissing(FlightRecorder::Entry entry,
                              std::span<const int> missing) {
  recorder.clearPeers(entry);
  for (int rank : missing)
    if (rank != groupState->members[self])
      recorder.addPeer(entry, rank);
}

FlightRecorder::Entry ThreadGroup::beginWait(const CallSite &site,
                                             std::span<const int> peers) {
  const auto entry = recorder.begin(FlightKind::Wait, site.call, site.action);
  noteMissing(entry, peers);
  return entry;
}

Status ThreadGroup::describeMissing(const CallSite &site,
                                    const std::vector<int> &missing) {
  if (job.aborted())
    return job.abortReason();
  return endRun(missedDeadline(site, rank->deadlineSeconds->load(), missing));
}

template <typename Work>
Status ThreadGroup::together(const MemberCall &call, const ActionId &action,
                             Work work) {
  if (job.aborted())
    return job.abortReason();
  const CallSite site = siteOf(call.name, action);
  const uint64_t step = ++steps;
  const auto entry = beginWait(site, groupState->members);
  if (!groupState->enter(self, step, call, deadline(),
                         [this] { rank->advance(); })) {
    const std::vector<int> late = groupState->missing(step);
    noteMissing(entry, late);
    return describeMissing(site, late);
  }
  // Compare the call of each member with the call of member 0. The variable
  // `odd` becomes the index of the first member whose call differs. If no call
  // differs, `odd` becomes the number of members. All members compare the same
  // calls, so `odd` is equal on all members.
  int odd = 0;
  while (odd < size() && groupState->callOf(odd).matches(groupState->callOf(0)))
    ++odd;
  if (odd == size())
    work();
  groupState->leave(self, ++steps);
  recorder.end(entry);
  if (odd == size())
    return Status::success();
  const int other = self == odd ? 0 : odd;
  return endRun(mismatchedCalls(site, groupState->members[other]));
}

// Divides the elements among the members. Each member reduces its elements, and
// writes the results to the outputs of all members. For example, a group of 4
// members reduces 10000 elements. Member 0 reduces the elements 0 to 2499, and
// member 1 reduces the elements 2500 to 4999.
//
// A member reduces at least 2048 elements if there are enough elements. For
// example, a group of 4 members reduces 3000 elements. Member 0 reduces the
// elements 0 to 2047, and member 1 reduces the elements 2048 to 2999. Members 2
// and 3 reduce no elements.
Status ThreadGroup::allReduce(const void *in, void *out, size_t count,
                              ElementType type, dist::ReductionKind kind,
                              const ActionId &action) {
  constexpr size_t smallestShare = 2048;
  const MemberCall call{"all_reduce", count, type, kind, 0, in, out};
  return together(call, action, [&] {
    const size_t share = std::max(smallestShare, (count + size() - 1) / size());
    const size_t begin = std::min(count, share * self);
    for (int i = 0; i < size(); ++i) {
      inputs[i] = groupState->callOf(i).in;
      outputs[i] = groupState->callOf(i).out;
    }
    reduceInTree(inputs, outputs, begin, std::min(count, begin + share), type,
                 kind);
  });
}

static void copyUnlessSame(void *target, const void *source, size_t bytes) {
  if (bytes > 0 && target != source)
    std::memcpy(target, source, bytes);
}

Status ThreadGroup::allGather(const void *in, void *out, size_t bytes,
                              const ActionId &action) {
  MemberCall call{.name = "all_gather", .size = bytes, .in = in, .out = out};
  return together(call, action, [&] {
    for (int i = 0; i < size(); ++i)
      copyUnlessSame(static_cast<char *>(out) + i * bytes,
                     groupState->callOf(i).in, bytes);
  });
}

Status ThreadGroup::broadcast(void *data, size_t bytes, int root,
                              const ActionId &action) {
  assert(root >= 0 && root < size() && "no member");
  MemberCall call{.name = "broadcast", .size = bytes, .root = root, .in = data};
  return together(call, action, [&] {
    copyUnlessSame(data, groupState->callOf(root).in, bytes);
  });
}

Status ThreadGroup::barrier(const ActionId &action) {
  return together({.name = "barrier"}, action, [] {});
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

bool ThreadGroup::isFirstOfPeer(const std::vector<Pending> &list,
                                size_t index) {
  for (size_t i = 0; i < index; ++i)
    if (list[i].piece.peer == list[index].piece.peer)
      return false;
  return true;
}

template <typename Moved>
void ThreadGroup::drop(std::vector<Pending> &list, Moved moved) {
  for (size_t i = 0; i < list.size();)
    if (isFirstOfPeer(list, i) && moved(list[i]))
      list.erase(list.begin() + int64_t(i));
    else
      ++i;
}

void ThreadGroup::offer(Pending &pending) {
  const PeerBuffer &piece = pending.piece;
  Mailbox &box = groupState->mailbox(self, piece.peer);
  box.data = piece.data;
  box.size = piece.size;
  box.state.store(Mailbox::Full, std::memory_order_release);
  pending.isOffered = true;
  groupState->sleeperOf(piece.peer).wake();
}

void ThreadGroup::publish() {
  for (size_t i = 0; i < sends.size(); ++i)
    if (!sends[i].isOffered && isFirstOfPeer(sends, i))
      offer(sends[i]);
}

/// Copies a message from the memory of the sender `piece.peer` to the memory
/// `piece.data`. Returns false if the mailbox (slot for one message) from the
/// sender to this rank is not in state Full. During the copy the state is
/// Taken, and the sender must not free the message. After the copy the state is
/// Empty, and the function returns true.
///
/// If the message has another size than `piece.size`, the function copies
/// nothing, stores the sender in `mismatchedPeer`, sets the state Empty, and
/// returns true.
bool ThreadGroup::receive(const PeerBuffer &piece) {
  Mailbox &box = groupState->mailbox(piece.peer, self);
  uint32_t expected = Mailbox::Full;
  if (!box.state.compare_exchange_strong(expected, Mailbox::Taken,
                                         std::memory_order_acq_rel))
    return false;
  if (box.size == piece.size)
    copyUnlessSame(piece.data, box.data, piece.size);
  else
    mismatchedPeer = piece.peer;
  box.state.store(Mailbox::Empty, std::memory_order_release);
  groupState->sleeperOf(piece.peer).wake();
  return true;
}

bool ThreadGroup::wasTaken(const PeerBuffer &piece) const {
  const Mailbox &box = groupState->mailbox(self, piece.peer);
  return box.state.load(std::memory_order_acquire) == Mailbox::Empty;
}

/// Transfers messages of this rank in this group, as far as possible without
/// blocking. A mailbox is a slot for one message. Each pair of a sender and a
/// receiver has one mailbox. For each other member of the group:
///
/// 1. If the mailbox from the member to this rank contains a message that this
///    rank expects, copies the message, and empties the mailbox.
/// 2. If the member has copied a message of this rank, removes the message from
///    the list `sends`.
/// 3. If the mailbox from this rank to the member is empty, puts the next
///    message of `sends` to this member into the mailbox.
void ThreadGroup::advance() {
  drop(receives, [&](const Pending &next) { return receive(next.piece); });
  drop(sends, [&](const Pending &next) {
    return next.isOffered && wasTaken(next.piece);
  });
  publish();
}

static bool contains(std::span<const Ticket> tickets, Ticket ticket) {
  return std::find(tickets.begin(), tickets.end(), ticket) != tickets.end();
}

bool ThreadGroup::isComplete(std::span<const Ticket> tickets) const {
  for (const auto *pieces : {&receives, &sends})
    for (const Pending &pending : *pieces)
      if (contains(tickets, pending.ticket))
        return false;
  return true;
}

std::vector<int> ThreadGroup::missing(std::span<const Ticket> tickets) const {
  std::vector<int> ranks;
  for (const auto *pieces : {&receives, &sends})
    for (const Pending &pending : *pieces)
      if (contains(tickets, pending.ticket))
        ranks.push_back(groupState->members[pending.piece.peer]);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Cancels all messages that this rank sends or receives in this group and that
/// are not yet completely transferred. The function removes the messages from
/// the lists `sends` and `receives`. There are three cases for a message that
/// this rank sends:
///
/// - The message is not yet in the mailbox (slot for one message to one
///   receiver). The function only removes the message from `sends`.
/// - The message is in the mailbox, and the receiver has not begun to copy it.
///   The function removes the message from the mailbox, too.
/// - The receiver is copying the message. The function waits until the copy is
///   complete.
void ThreadGroup::withdraw() {
  for (const Pending &pending : sends) {
    Mailbox &box = groupState->mailbox(self, pending.piece.peer);
    uint32_t expected = Mailbox::Full;
    if (!pending.isOffered ||
        box.state.compare_exchange_strong(expected, Mailbox::Empty))
      continue;
    waitUntil(groupState->sleeperOf(self), job.oversubscribed(), kNever,
              [&] { return wasTaken(pending.piece); });
  }
  sends.clear();
  receives.clear();
}

Status ThreadGroup::post(std::span<const PeerBuffer> toSend,
                         std::span<const PeerBuffer> toReceive,
                         const ActionId &action, Ticket &ticket) {
  if (job.aborted())
    return job.abortReason();
  ticket = ++newest;
  for (const PeerBuffer &piece : toSend)
    sends.push_back({piece, ticket});
  for (const PeerBuffer &piece : toReceive)
    receives.push_back({piece, ticket});
  posts.add(ticket, toSend, toReceive, groupState->members, action);
  publish();
  return Status::success();
}

/// Blocks until the messages of earlier post() calls are completely sent and
/// received. `tickets` are the handles of these calls. During the wait, the
/// function also transfers the messages of all other groups of this rank.
///
/// If the wait fails (for example, at the deadline), the function calls
/// withdraw(), which cancels all messages of this rank in this group. After the
/// function returns, no other rank reads the memory of these messages. The
/// caller may free the memory.
Status ThreadGroup::wait(std::span<const Ticket> tickets,
                         const ActionId &action) {
  const CallSite site = siteOf("exchange", action);
  const auto entry = beginWait(site, {});
  for (const auto *pieces : {&receives, &sends})
    for (const Pending &pending : *pieces)
      if (contains(tickets, pending.ticket))
        recorder.addPeer(entry, groupState->members[pending.piece.peer]);
  bool done = false;
  waitUntil(groupState->sleeperOf(self), job.oversubscribed(), deadline(), [&] {
    rank->advance();
    done = isComplete(tickets);
    return done || mismatchedPeer >= 0 || job.aborted();
  });
  if (mismatchedPeer < 0 && done) {
    recorder.end(entry);
    posts.end(tickets);
    return Status::success();
  }
  const std::vector<int> late = missing(tickets);
  noteMissing(entry, late);
  withdraw();
  if (mismatchedPeer >= 0)
    return endRun(mismatchedCalls(site, groupState->members[mismatchedPeer]));
  return describeMissing(site, late);
}

} // namespace pcc::runtime
