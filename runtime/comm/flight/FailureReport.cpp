//===- FailureReport.cpp - diagnosis of a failed run from flight logs -----===//

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/WaitError.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace pcc::runtime {

/// Returns the peers (ranks with which a rank communicates) that `entry` lists.
/// Limits their number to kMostPeers, because `entry.numPeers` may be greater.
static std::span<const int32_t> peersOf(const FlightEntry &entry) {
  return {entry.peers,
          std::min<size_t>(entry.numPeers, FlightEntry::kMostPeers)};
}

/// Returns whether a rank whose activity is `place` waits for rank `rank`.
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
/// The activities of all ranks at one time, from the ranks' flight logs. Logs
/// of some ranks may be missing, so functions identify a log by its index in
/// `flights`.
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

  /// Returns the seconds since a rank's last sign of life. `index` is the index
  /// of the rank's log in `flights`.
  double stillFor(size_t index) const { return now - places[index].moved; }

  /// Returns the activity of the rank of log `index` as text, such as "step 5,
  /// action 1F3, all_reduce of h with rank 2". Action 1F3 is the forward (F) of
  /// microbatch 3 on stage 1.
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

  /// Returns a note about the rank whose log is `flights[index]`, such as
  ///
  ///   rank 3: step 5, action 1F3, for 9.0 s, has not moved for 2.1 s
  ///
  /// Action 1F3 (the forward of microbatch 3 on stage 1) began 9.0 s ago. The
  /// last sign of life was 2.1 s ago. The note states this second time only if
  /// it is longer than `patience` seconds.
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
    if (isStill(index, patience))
      text += ", has not moved for " + seconds(stillFor(index));
    return text;
  }

  /// Returns whether the rank whose log is `flights[index]` has shown no sign
  /// of life for longer than `patience` seconds. Returns false if this object
  /// describes a time before the end of the logs, because signs of life at that
  /// time may be missing from the log.
  bool isStill(size_t index, double patience) const {
    return isOver && stillFor(index) > patience;
  }

private:
  const std::vector<FlightLog> &flights;
  /// Whether this object describes the time at the end of the flight logs, not
  /// an earlier time.
  const bool isOver;
  std::vector<FlightState> places;
  /// Time that this object describes, in seconds of FlightRecorder::now(). For
  /// the end of the flight logs, it is the time of the last sign of life of any
  /// rank.
  double now = 0;
};

/// Depth-first search in the graph of waits, which has an edge from each
/// waiting rank to every rank for which it waits.
class WaitChain {
public:
  WaitChain(const JobSnapshot &snapshot, double patience)
      : snapshot(snapshot), patience(patience), seen(snapshot.size()) {}

  /// Returns the log index of the rank that blocks a waiting rank. `index` is
  /// the log index of the waiting rank. For example, rank 0 waits for 1, rank 1
  /// waits for 2, and rank 2 computes: rank 2 blocks rank 0.
  ///
  /// A rank can block others if it does not wait itself, or if it is stuck
  /// (isStill()). Returns std::nullopt if the search finds no such rank.
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

/// Returns the number of seconds without a sign of life after which a rank
/// counts as stuck. It is a quarter of the time for which `waiter` (index of a
/// log) has waited, at least 0.5 s.
static double patienceOf(const JobSnapshot &snapshot,
                         std::optional<size_t> waiter) {
  constexpr double shortest = 0.5;
  if (!waiter || !snapshot.place(*waiter).wait)
    return shortest;
  const FlightState &place = snapshot.place(*waiter);
  return std::max(shortest, (place.moved - place.wait->begin) / 4);
}

/// Returns the log index of the rank that blocks rank `waiter`. For example,
/// rank 0 waits for 1, rank 1 waits for 2, and rank 2 computes: rank 2 blocks
/// rank 0. Returns std::nullopt if no rank blocks `waiter`.
static std::optional<size_t> endOfChain(const JobSnapshot &snapshot,
                                        int waiter) {
  const auto index = snapshot.find(waiter);
  if (!index || !snapshot.place(*index).wait)
    return std::nullopt;
  return WaitChain(snapshot, patienceOf(snapshot, index)).endFrom(*index);
}

/// Returns text to append to the message about the lost rank `lost`: its last
/// activity, and the activity of one rank that waits for it.
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

/// Returns text to append to the message about a deadline that rank `waiter`
/// missed: the rank that blocks it, and the activity of that rank. Empty if no
/// blocking rank is found.
static std::string storyOfWaiter(const JobSnapshot &snapshot, int waiter) {
  const auto end = endOfChain(snapshot, waiter);
  if (!end)
    return "";
  return "; rank " + std::to_string(snapshot.log(*end).rank) +
         " has not moved for " + seconds(snapshot.stillFor(*end)) + ": " +
         snapshot.where(*end);
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
