//===- FailureReport.cpp - diagnosis of a failed run from flight logs -----===//

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/WaitError.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace pcc::runtime {

/// Returns the peers that a flight recorder entry stores, at most kMostPeers.
/// Limits the entry's count of peers, since the entry may come from damaged
/// memory.
static std::span<const int32_t> peersOf(const FlightEntry &entry) {
  return {entry.peers,
          std::min<size_t>(entry.numPeers, FlightEntry::kMostPeers)};
}

/// Returns whether a rank with activity `place` waits for rank `rank`.
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
/// The activities of all ranks at one time, from the ranks' flight logs. The
/// functions identify a rank by the index of its log in the list `flights`. The
/// index differs from the rank if some logs are missing.
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

  /// Returns the seconds since the last sign of life of the rank whose log has
  /// index `index`.
  double stillFor(size_t index) const { return now - places[index].moved; }

  /// Returns the activity of the rank whose log has index `index` as text, such
  /// as "step 5, action 1F3, all_reduce of h with rank 2". Action 1F3 is the
  /// forward (F) of microbatch 3 on stage 1.
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

  /// Returns the note about the rank whose log has index `index`, which is
  /// added to the error. An example for rank 3 in action 1F3, the forward (F)
  /// of microbatch 3 on stage 1:
  ///
  ///   rank 3: step 5, action 1F3, for 9.0 s, has not moved for 2.1 s
  ///
  /// The action began 9.0 s ago, and the last sign of life was 2.1 s ago. The
  /// last part is omitted unless isStill() is true for `patience`.
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

  /// Returns whether the rank whose log has index `index` has shown no sign of
  /// life for longer than `patience` seconds. The function needs the rank's
  /// heartbeats. A log has only the latest heartbeat, so the function returns
  /// false unless the snapshot shows the end of the logs.
  bool isStill(size_t index, double patience) const {
    return isOver && stillFor(index) > patience;
  }

private:
  const std::vector<FlightLog> &flights;
  /// Whether the snapshot shows the ranks at the end of their logs, rather than
  /// at an earlier time.
  const bool isOver;
  std::vector<FlightState> places;
  /// Time of the snapshot, in seconds of FlightRecorder::now(). If the snapshot
  /// shows the end of the logs, this is the time of the last sign of life of
  /// any rank.
  double now = 0;
};

/// Depth-first search through the graph of waits between ranks. The graph has
/// an edge from each waiting rank to every rank for which it waits.
class WaitChain {
public:
  WaitChain(const JobSnapshot &snapshot, double patience)
      : snapshot(snapshot), patience(patience), seen(snapshot.size()) {}

  /// Returns the log index of the rank that blocks a waiting rank. `index` is
  /// the log index of the waiting rank. For example, rank 0 waits for rank 1,
  /// rank 1 waits for rank 2, and rank 2 computes. Rank 2 then blocks rank 0.
  ///
  /// The search ends at the first rank that does not wait, or that shows no
  /// sign of life. It checks all peers of a rank before the peers' peers.
  /// Returns std::nullopt if it finds only waiting ranks.
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

/// Returns the patience: a rank counts as stuck after this number of seconds
/// without a sign of life. The patience is a quarter of the time for which
/// `waiter` (index of a log) has waited, at least 0.5 s. It is 0.5 s if there
/// is no waiter.
static double patienceOf(const JobSnapshot &snapshot,
                         std::optional<size_t> waiter) {
  constexpr double shortest = 0.5;
  if (!waiter || !snapshot.place(*waiter).wait)
    return shortest;
  const FlightState &place = snapshot.place(*waiter);
  return std::max(shortest, (place.moved - place.wait->begin) / 4);
}

/// Returns the index, in the list of logs, of the rank that blocks rank
/// `waiter`: the end of a chain of ranks that wait for each other. Returns
/// std::nullopt if `waiter` does not wait, or if there is no such rank.
static std::optional<size_t> endOfChain(const JobSnapshot &snapshot,
                                        int waiter) {
  const auto index = snapshot.find(waiter);
  if (!index || !snapshot.place(*index).wait)
    return std::nullopt;
  return WaitChain(snapshot, patienceOf(snapshot, index)).endFrom(*index);
}

/// Returns text that is appended to the message about the lost rank `lost`. The
/// text contains the last activity of `lost`, and the activity of one rank that
/// waits for `lost`. Omits each rank whose log is missing.
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

/// Returns text that is appended to the message about a deadline that rank
/// `waiter` missed. The text contains the rank that blocks `waiter`, and the
/// last activity of the blocking rank. Empty if no blocking rank is found.
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
