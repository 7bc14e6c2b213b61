//===- FlightRecorder.h - the latest that one rank did --------------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/flight/FlightLog.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Keeps the latest actions and messages of a rank, for when the run fails:
///
///   action 0F3 ────────────────────────────── begin … end
///     wait: all_reduce of h, ranks 1 and 3 ── begin … end
///
/// In a file, where there is one, that others can read when this process has
/// been killed. Used by the rank's thread. An entry costs a look at the clock
/// and a copy of its texts; nothing is allocated.
class FlightRecorder {
public:
  /// Entries that are kept.
  static constexpr uint32_t kCapacity = 512;

  /// `path`: a file to make; empty, or where it cannot be made: memory of this
  /// process.
  explicit FlightRecorder(int rank, const std::string &path = {});
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// What follows belongs to step `step`, counted from 1.
  void beginStep(int64_t step);

  using Entry = uint64_t;
  Entry begin(FlightKind kind, std::string_view call, const ActionId &action);
  Entry beginAction(std::string_view name);
  void end(Entry entry);

  /// Forgets the peers of an entry; addPeer() names those that it has now.
  void clearPeers(Entry entry);
  void addPeer(Entry entry, int rank);

  /// The rank is still there: it looks for what it waits for.
  void heartbeat();
  /// All that the rank had to do is done; it only waits for the others.
  void leave();

  FlightLog log() const;

  /// Seconds of the clock that entries have.
  static double now();

private:
  FlightEntry *find(Entry entry);
  Entry add(FlightKind kind, std::string_view call, std::string_view action,
            std::string_view value);

  void *memory = nullptr;
  size_t bytes = 0;
  FlightHeader *header = nullptr;
  FlightEntry *ring = nullptr;
};

/// "FOLDER/flight.3", where a rank of a job keeps its recorder.
std::string flightFile(const std::string &folder, int rank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
