//===- FailureReport.cpp - diagnosis of a failed run from flight logs -----===//

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/WaitError.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace pcc::runtime {

/// Returns the peers that `entry` lists. `entry` describes one activity of a
/// rank, such as a wait. Peers are the ranks with which this rank communicates.
/// An entry has space for 8 peers (kMostPeers). If an activity has more than 8
/// peers, `entry.numPeers` is the number of all peers, but the entry lists only
/// 8 of them. For example, if `entry.numPeers` is 10, the function returns 8
/// peers.
static std::span<const int32_t> peersOf(const FlightEntry &entry) {
  return {entry.peers,
          std::min<size_t>(entry.numPeers, FlightEntry::kMostPeers)};
}

/// Returns whether one rank waits for another rank. `place` describes the
/// activity of the first rank, and `rank` is the world rank of the second one.
/// The log of the first rank records at most 8 ranks (kMostPeers) for which the
/// first rank waits. Returns false for a rank that the log does not record.
static bool waitsFor(const FlightState &place, int rank) {
  if (!place.wait)
    return false;
  const auto peers = peersOf(*place.wait);
  return std::find(peers.begin(), peers.end(), rank) != peers.end();
}

static std::string seconds(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::max(0.0, number));
  return text;
}

namespace {
/// Snapshot of the activities of the ranks at one time. The constructor gets
/// this time and a list of flight logs. A flight log lists the latest
/// activities of one rank. The list of logs may lack some ranks, so the
/// functions of this class identify a rank by the index of its log in
/// `flights`. For example, if the logs of ranks 0, 2 and 3 exist, index 1 means
/// rank 2.
class JobSnapshot {
public:
  JobSnapshot(const std::vector<FlightLog> &flights, double time)
      : flights(flights), isOver(time == kAtTheEnd) {
    for (const FlightLog &log : flights) {
      places.push_back(stateAt(log, time));
      now = std::max(now, places.back().moved);
    }
    if (!isOver)
      now = time;
  }

  size_t size() const { return flights.size(); }
  const FlightLog &log(size_t index) const { return flights[index]; }
  const FlightState &place(size_t index) const { return places[index]; }

  /// Returns the index in `flights` of the log of `rank`; std::nullopt if its
  /// log is missing.
  std::optional<size_t> find(int rank) const {
    for (size_t i = 0; i < flights.size(); ++i)
      if (flights[i].rank == rank)
        return i;
    return std::nullopt;
  }

  /// Returns for how many seconds the rank `flights[index].rank` has not
  /// recorded that it is alive. A rank records this when it begins or ends an
  /// activity, such as a wait. An MPI or NCCL rank also records each poll,
  /// which checks whether a wait is over.
  ///
  /// A flight log contains only the time of the latest poll. If this snapshot
  /// describes a time before the end of the flight logs, the function therefore
  /// ignores all polls.
  double stillFor(size_t index) const { return now - places[index].moved; }

  /// Returns text about the activity of one rank, such as "step 5, action 1F3,
  /// all_reduce of h with rank 2". Action 1F3 is the forward (F) of microbatch
  /// 3 on stage 1. The text is about the rank `flights[index].rank`.
  std::string where(size_t index) const {
    const FlightState &place = places[index];
    const FlightEntry *entry = place.wait ? place.wait : place.action;
    if (!entry)
      return "before it began";
    std::string text =
        entry->step > 0 ? "step " + std::to_string(entry->step) + ", " : "";
    text += place.wait || place.isInAction ? "action " : "after action ";
    text += entry->action;
    if (place.wait) {
      text += std::string(", ") + entry->call;
      if (entry->value[0])
        text += std::string(" of ") + entry->value;
      if (entry->numPeers > 0)
        text += " with " + listRanks(peersOf(*entry));
    }
    return text;
  }

  /// Returns one line of text about the activity of the rank
  /// `flights[index].rank`, or "rank 3: done" if the rank has finished its
  /// work. For example:
  ///
  ///   rank 3: step 5, action 1F3, for 9.0 s, has not moved for 2.1 s
  ///
  /// "for 9.0 s" is the duration of the current action or wait, if any. The
  /// text "has not moved" is present if isStill() returns true: the rank has
  /// not recorded for more than `patience` seconds that it is alive.
  std::string line(size_t index, double patience) const {
    const FlightState &place = places[index];
    std::string text = "rank " + std::to_string(flights[index].rank) + ": ";
    if (flights[index].hasLeft)
      return text + "done";
    text += where(index);
    if (const FlightEntry *entry =
            place.wait ? place.wait
                       : (place.isInAction ? place.action : nullptr))
      text += ", for " + seconds(now - entry->begin);
    if (place.moved > 0 && isStill(index, patience))
      text += ", has not moved for " + seconds(stillFor(index));
    return text;
  }

  /// Returns whether a rank is stuck. The rank is `flights[index].rank`. A rank
  /// is stuck if more than `patience` seconds have passed since the rank last
  /// recorded that it is alive. A rank records this when it begins or ends an
  /// activity, or polls during a wait.
  ///
  /// Returns false if this snapshot describes a time before the end of the
  /// flight logs. A flight log lists the latest activities of one rank, but
  /// keeps only the time of the latest poll. Earlier polls are therefore
  /// unknown.
  bool isStill(size_t index, double patience) const {
    return isOver && stillFor(index) > patience;
  }

private:
  const std::vector<FlightLog> &flights;
  /// Whether this snapshot describes the last recorded activity of each rank.
  /// If false, this snapshot describes the activities of the ranks at an
  /// earlier time.
  const bool isOver;
  std::vector<FlightState> places;
  /// Time that this snapshot describes, in seconds. The clock is the steady
  /// clock of the host. The value comes from the constructor's parameter
  /// `time`. If `time` is the constant kAtTheEnd, the value is the latest time
  /// at which any rank recorded that it is alive.
  double now = 0;
};

/// Searches for the rank that blocks a waiting rank. For example, rank 0 waits
/// for rank 1, rank 1 waits for rank 2, and rank 2 computes. Rank 2 then blocks
/// rank 0.
///
/// The search is a depth-first search in a graph. The nodes of the graph are
/// the ranks. The graph has an edge from rank a to rank b if rank a waits for
/// rank b.
class WaitChain {
public:
  WaitChain(const JobSnapshot &snapshot, double patience)
      : snapshot(snapshot), patience(patience), seen(snapshot.size()) {}

  /// Finds a rank that blocks the waiting rank. The search follows the waits
  /// from rank to rank. It ends at a rank that does not wait, or at a waiting
  /// rank that is stuck (JobSnapshot::isStill()).
  ///
  /// `index` is the index of the waiting rank's log in `snapshot`. This rank
  /// must be waiting. The result is the index of the blocking rank's log, or
  /// std::nullopt if the search finds no blocking rank.
  std::optional<size_t> endFrom(size_t index) {
    seen[index] = true;
    const FlightState &place = snapshot.place(index);
    std::vector<size_t> waiting;
    for (int32_t rank : peersOf(*place.wait)) {
      const auto peer = snapshot.find(rank);
      if (!peer || seen[*peer])
        continue;
      if (!snapshot.place(*peer).wait || snapshot.isStill(*peer, patience))
        return peer;
      waiting.push_back(*peer);
    }
    for (size_t peer : waiting)
      if (!seen[peer])
        if (auto end = endFrom(peer))
          return end;
    return std::nullopt;
  }

private:
  const JobSnapshot &snapshot;
  const double patience;
  std::vector<bool> seen;
};
} // namespace

/// Returns a limit in seconds. A rank counts as stuck if more time than the
/// limit has passed since the rank last recorded that it is alive.
///
/// The limit depends on one rank, usually the rank that reported the error.
/// `waiter` is the index of the log of this rank in `snapshot`. If the rank
/// waits for other ranks, the limit is a quarter of the duration of the wait,
/// and at least 0.5 s. For example, a wait of 8 s gives a limit of 2 s. If the
/// rank does not wait, or if `waiter` is std::nullopt, the limit is 0.5 s.
static double patienceOf(const JobSnapshot &snapshot,
                         std::optional<size_t> waiter) {
  constexpr double shortest = 0.5;
  if (!waiter || !snapshot.place(*waiter).wait)
    return shortest;
  const FlightState &place = snapshot.place(*waiter);
  return std::max(shortest, (place.moved - place.wait->begin) / 4);
}

/// Finds a rank that blocks rank `waiter`. For example, rank 0 waits for rank
/// 1, rank 1 waits for rank 2, and rank 2 computes. Rank 2 then blocks rank 0.
///
/// `snapshot` has logs of the ranks' activities. Returns the index of the
/// blocking rank's log in `snapshot`, or std::nullopt if the search finds no
/// blocking rank.
static std::optional<size_t> endOfChain(const JobSnapshot &snapshot,
                                        int waiter) {
  const auto index = snapshot.find(waiter);
  if (!index || !snapshot.place(*index).wait)
    return std::nullopt;
  return WaitChain(snapshot, patienceOf(snapshot, index)).endFrom(*index);
}

/// Returns text to append to the error message about a lost rank. A rank is
/// lost if its process ended without an error report. The text states the
/// activity of rank `lost`, and the activity of one rank that waits for it. For
/// example:
///
///   ; step 12, action 1B0; rank 3 waits for it: step 12, action 1B0,
///   all_reduce of h with rank 2
///
/// `snapshot` has the activities of all ranks. Action 1B0 is the backward (B)
/// of microbatch 0 on stage 1.
static std::string storyOfLost(const JobSnapshot &snapshot, int lost) {
  std::string text;
  if (const auto index = snapshot.find(lost))
    text = "; " + snapshot.where(*index);
  for (size_t i = 0; i < snapshot.size(); ++i)
    if (snapshot.log(i).rank != lost && waitsFor(snapshot.place(i), lost))
      return text + "; rank " + std::to_string(snapshot.log(i).rank) +
             " waits for it: " + snapshot.where(i);
  return text;
}

/// Returns text to append to the error message of rank `waiter`, which has
/// waited for other ranks for too long. The text names the rank that blocks
/// `waiter`, and the activity of that rank. For example:
///
///   ; rank 2 has not moved for 29.5 s: step 5, after action 1F3
///
/// `snapshot` has the activities of all ranks. Action 1F3 is the forward (F) of
/// microbatch 3 on stage 1. Returns an empty text if no rank is found that
/// blocks `waiter`.
static std::string storyOfWaiter(const JobSnapshot &snapshot, int waiter) {
  const auto end = endOfChain(snapshot, waiter);
  if (!end)
    return "";
  const std::string rank = "; rank " + std::to_string(snapshot.log(*end).rank);
  if (snapshot.place(*end).moved == 0)
    return rank + " has not begun";
  return rank + " has not moved for " + seconds(snapshot.stillFor(*end)) +
         ": " + snapshot.where(*end);
}

Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues) {
  constexpr size_t mostLines = 16;
  const JobSnapshot snapshot(flights, clues.time);
  std::string text = status.message();
  if (clues.lost)
    text += storyOfLost(snapshot, *clues.lost);
  else if (clues.waiter)
    text += storyOfWaiter(snapshot, *clues.waiter);
  Status told = Status::error(status.code(), text, status.notes());
  const auto waiter =
      clues.waiter ? snapshot.find(*clues.waiter) : std::nullopt;
  const double patience = patienceOf(snapshot, waiter);
  for (size_t i = 0; i < std::min(mostLines, snapshot.size()); ++i)
    told.addNote(snapshot.line(i, patience));
  if (snapshot.size() > mostLines)
    told.addNote("and " + std::to_string(snapshot.size() - mostLines) +
                 " more ranks");
  return told;
}

} // namespace pcc::runtime
