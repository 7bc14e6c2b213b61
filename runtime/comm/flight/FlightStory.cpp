//===- FlightStory.cpp - where each rank was when a run failed ------------===//

#include "runtime/comm/flight/FlightStory.h"
#include "runtime/comm/WaitError.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace pcc::runtime {

static std::span<const int32_t> peersOf(const FlightEntry &entry) {
  return {entry.peers,
          std::min<size_t>(entry.numPeers, FlightEntry::kMostPeers)};
}

static bool waitsFor(const FlightPlace &place, int rank) {
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
/// All ranks at one time.
class Scene {
public:
  Scene(const std::vector<FlightLog> &flights, double time)
      : flights(flights), isOver(time == kAtTheEnd) {
    for (const FlightLog &log : flights) {
      places.push_back(placeAt(log, time));
      now = std::max(now, places.back().moved);
    }
    if (!isOver)
      now = time;
  }

  size_t size() const { return flights.size(); }
  const FlightLog &log(size_t index) const { return flights[index]; }
  const FlightPlace &place(size_t index) const { return places[index]; }

  std::optional<size_t> find(int rank) const {
    for (size_t i = 0; i < flights.size(); ++i)
      if (flights[i].rank == rank)
        return i;
    return std::nullopt;
  }

  double stillFor(size_t index) const { return now - places[index].moved; }

  /// "step 5, action 1F3, all_reduce of h with rank 2"
  std::string where(size_t index) const {
    const FlightPlace &place = places[index];
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

  /// "rank 3: step 5, action 1F3 for 2.1 s, has not moved for 2.1 s"
  std::string line(size_t index, double patience) const {
    const FlightPlace &place = places[index];
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

  /// Only ranks that wait are heard all the time, and only at the end.
  bool isStill(size_t index, double patience) const {
    return isOver && stillFor(index) > patience;
  }

private:
  const std::vector<FlightLog> &flights;
  const bool isOver;
  std::vector<FlightPlace> places;
  double now = 0;
};

/// Follows who waits for whom.
class Chain {
public:
  Chain(const Scene &scene, double patience)
      : scene(scene), patience(patience), seen(scene.size()) {}

  std::optional<size_t> endFrom(size_t index) {
    seen[index] = true;
    const FlightPlace &place = scene.place(index);
    std::vector<size_t> waiting;
    for (int32_t rank : peersOf(*place.wait)) {
      const auto peer = scene.find(rank);
      if (!peer || seen[*peer])
        continue;
      if (!scene.place(*peer).wait || scene.isStill(*peer, patience))
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
  const Scene &scene;
  const double patience;
  std::vector<bool> seen;
};
} // namespace

/// A rank that has not moved for so long stands still.
static double patienceOf(const Scene &scene, std::optional<size_t> waiter) {
  constexpr double shortest = 0.5;
  if (!waiter || !scene.place(*waiter).wait)
    return shortest;
  const FlightPlace &place = scene.place(*waiter);
  return std::max(shortest, (place.moved - place.wait->begin) / 4);
}

static std::optional<size_t> endOfChain(const Scene &scene, int waiter) {
  const auto index = scene.find(waiter);
  if (!index || !scene.place(*index).wait)
    return std::nullopt;
  return Chain(scene, patienceOf(scene, index)).endFrom(*index);
}

std::optional<int> findCulprit(const std::vector<FlightLog> &flights,
                               int waiter, double time) {
  const Scene scene(flights, time);
  const auto end = endOfChain(scene, waiter);
  return end ? std::optional(scene.log(*end).rank) : std::nullopt;
}

/// Where the lost rank was, and who misses it.
static std::string storyOfLost(const Scene &scene, int lost) {
  std::string text;
  if (const auto index = scene.find(lost))
    text = "; " + scene.where(*index);
  for (size_t i = 0; i < scene.size(); ++i)
    if (scene.log(i).rank != lost && waitsFor(scene.place(i), lost))
      return text + "; rank " + std::to_string(scene.log(i).rank) +
             " waits for it: " + scene.where(i);
  return text;
}

static std::string storyOfWaiter(const Scene &scene, int waiter) {
  const auto end = endOfChain(scene, waiter);
  if (!end)
    return "";
  return "; rank " + std::to_string(scene.log(*end).rank) +
         " has not moved for " + seconds(scene.stillFor(*end)) + ": " +
         scene.where(*end);
}

Status explainLoss(const Status &status, const std::vector<FlightLog> &flights,
                   const LossClues &clues) {
  constexpr size_t mostLines = 16;
  const Scene scene(flights, clues.time);
  std::string text = status.message();
  if (clues.lost)
    text += storyOfLost(scene, *clues.lost);
  else if (clues.waiter)
    text += storyOfWaiter(scene, *clues.waiter);
  Status told = Status::error(status.code(), text, status.notes());
  const auto waiter = clues.waiter ? scene.find(*clues.waiter) : std::nullopt;
  const double patience = patienceOf(scene, waiter);
  for (size_t i = 0; i < std::min(mostLines, scene.size()); ++i)
    told.addNote(scene.line(i, patience));
  if (scene.size() > mostLines)
    told.addNote("and " + std::to_string(scene.size() - mostLines) +
                 " more ranks");
  return told;
}

} // namespace pcc::runtime
