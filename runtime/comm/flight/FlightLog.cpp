//===- FlightLog.cpp - snapshot of a rank's flight recorder ---------------===//

#include "runtime/comm/flight/FlightLog.h"
#include "runtime/base/MappedFile.h"
#include "runtime/comm/flight/FlightRecorder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace pcc::runtime {

FlightLog FlightLog::of(const FlightHeader &header, const FlightEntry *ring) {
  FlightLog log;
  log.rank = header.rank;
  log.step = header.step;
  log.moved = header.moved;
  log.hasLeft = header.hasLeft;
  const uint64_t count = header.count.load(std::memory_order_acquire);
  const uint64_t first =
      count - std::min<uint64_t>(count, FlightRecorder::kCapacity);
  for (uint64_t number = first; number < count; ++number) {
    FlightEntry &entry =
        log.entries.emplace_back(ring[number % FlightRecorder::kCapacity]);
    for (char *last : {&entry.call[sizeof entry.call - 1],
                       &entry.action[sizeof entry.action - 1],
                       &entry.value[sizeof entry.value - 1]})
      *last = '\0';
  }
  return log;
}

/// Returns whether a flight recorder entry (action, wait or message) was in
/// progress at `time`.
static bool isUnderWay(const FlightEntry &entry, double time) {
  return entry.begin <= time && (entry.end == 0 || entry.end > time);
}

/// Searches a rank's log for the activity of the rank at `time`. The log has
/// one entry per activity, in the order in which the activities began. The
/// function reads the entries until an entry begins after `time`. The result
/// refers to at most two entries:
///
/// - `action`: the last action that began at or before `time`. An action is one
///   unit of work. For example, action 0F3 is the forward (F) of microbatch 3
///   on stage 0.
/// - `wait`: the last wait for other ranks that began at or before `time`. Null
///   if the log has no such wait, or if this wait ended at or before `time`.
FlightState stateAt(const FlightLog &log, double time) {
  FlightState place;
  place.moved = time == kAtTheEnd ? log.moved : 0;
  for (const FlightEntry &entry : log.entries) {
    if (entry.begin > time)
      break;
    place.moved = std::max(place.moved, entry.begin);
    if (entry.end <= time)
      place.moved = std::max(place.moved, entry.end);
    if (entry.kind == FlightKind::Action) {
      place.action = &entry;
      place.isInAction = isUnderWay(entry, time);
    } else if (entry.kind == FlightKind::Wait) {
      place.wait = isUnderWay(entry, time) ? &entry : nullptr;
    }
  }
  return place;
}

/// Reads the flight recorder file `path` into `log`. A flight recorder file is
/// a log of one rank's latest activities. Returns false in these cases:
///
/// - The file cannot be opened or read.
/// - The file is too short. A complete file has a header and
///   FlightRecorder::kCapacity entries. An entry describes one activity.
/// - The header's field `magic` differs from FlightHeader::kMagic. The file
///   then has another format.
/// - The header's field `capacity` differs from FlightRecorder::kCapacity. For
///   example, the field is 0 if the rank has not yet written the whole header.
static bool readFlight(const std::string &path, FlightLog &log) {
  MappedFile file;
  if (MappedFile::open(path, file).failed() ||
      file.bytes().size() < sizeof(FlightHeader) +
                                FlightRecorder::kCapacity * sizeof(FlightEntry))
    return false;
  const auto *header =
      reinterpret_cast<const FlightHeader *>(file.bytes().data());
  if (header->magic != FlightHeader::kMagic ||
      header->capacity != FlightRecorder::kCapacity)
    return false;
  log =
      FlightLog::of(*header, reinterpret_cast<const FlightEntry *>(header + 1));
  return file.checkRead(InputOutput).ok();
}

std::vector<FlightLog> readFlights(const std::string &folder) {
  std::vector<FlightLog> flights;
  std::error_code problem;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder, problem)) {
    FlightLog log;
    if (entry.path().stem() == "flight" && readFlight(entry.path(), log))
      flights.push_back(std::move(log));
  }
  std::sort(flights.begin(), flights.end(),
            [](const auto &a, const auto &b) { return a.rank < b.rank; });
  return flights;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

using Json = nlohmann::ordered_json;

/// Returns one flight recorder entry as a JSON object. The object's times are
/// in seconds relative to `last`. For example, a time of -2.5 is 2.5 s before
/// `last`.
///
/// The rank may have died while it wrote the entry, so the fields of `entry`
/// can be invalid. An invalid kind is written as "post". At most
/// FlightEntry::kMostPeers peers are written.
static Json toJson(const FlightEntry &entry, double last) {
  static constexpr const char *kinds[] = {"action", "wait", "post"};
  Json json = {{"kind", kinds[std::min<size_t>(size_t(entry.kind), 2)]},
               {"step", entry.step},
               {"action", entry.action}};
  if (entry.kind != FlightKind::Action) {
    const auto kept =
        std::min<uint32_t>(entry.numPeers, FlightEntry::kMostPeers);
    json["call"] = entry.call;
    json["value"] = entry.value;
    json["peers"] = std::vector(entry.peers, entry.peers + kept);
  }
  json["begin"] = entry.begin - last;
  json["end"] = entry.end > 0 ? Json(entry.end - last) : Json(nullptr);
  return json;
}

std::string flightsToJson(const std::vector<FlightLog> &flights,
                          const std::string &reason) {
  double last = 0;
  for (const FlightLog &log : flights)
    last = std::max(last, log.moved);
  Json ranks = Json::array();
  for (const FlightLog &log : flights) {
    Json entries = Json::array();
    for (const FlightEntry &entry : log.entries)
      entries.push_back(toJson(entry, last));
    ranks.push_back({{"rank", log.rank},
                     {"step", log.step},
                     {"done", log.hasLeft},
                     {"moved", log.moved - last},
                     {"entries", std::move(entries)}});
  }
  const Json json = {{"reason", reason}, {"ranks", std::move(ranks)}};
  // A text field of an entry may contain invalid UTF-8. For example, the
  // beginning of a long tensor name is cut off, and the cut may be in the
  // middle of a character. By default, dump() throws an exception for invalid
  // UTF-8. With the argument `replace`, dump() writes the character U+FFFD
  // instead of the invalid bytes.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace pcc::runtime
