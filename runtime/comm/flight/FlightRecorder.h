//===- FlightRecorder.h - crash-proof log of a rank's latest activities ---===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/flight/FlightLog.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Keeps a log of one rank's latest activities: actions, waits and messages.
/// The error message of a failed run can then state what every rank was doing.
/// In this example, 0F3 is the forward (F) of microbatch 3 on stage 0:
///
///   action 0F3 ────────────────────────────── begin … end
///     wait: all_reduce of h, ranks 1 and 3 ── begin … end
///
/// Each line of the example is an entry. A log in a file survives even SIGKILL.
/// Only the rank's thread may write. Recording allocates no memory.
class FlightRecorder {
public:
  /// Number of entries that a recorder keeps. A new entry overwrites the
  /// oldest.
  static constexpr uint32_t kCapacity = 512;

  /// Creates or truncates the file `path`, and records in it. If `path` is
  /// empty or the file cannot be created, records in memory instead.
  explicit FlightRecorder(int rank, const std::string &path = {});
  /// Unmaps the recorder's memory. The file stays on disk.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// Sets the number of the training or inference step, from 1, for later
  /// entries.
  void beginStep(int64_t step);

  /// Index of an entry, counted from 0. A recorder keeps only the latest
  /// kCapacity entries, and ignores the indices of older ones.
  using Entry = uint64_t;
  /// Begins an entry for the call `call`, such as "all_reduce". Returns the
  /// entry's index, for end(). The kind is Wait (the rank blocks in the call)
  /// or Post (the call's messages are in flight).
  Entry begin(FlightKind kind, std::string_view call, const ActionId &action);
  /// Begins an entry of kind Action for the schedule action `name`, such as
  /// "0F3": stage 0, forward (F), microbatch 3. Returns the entry's index.
  Entry beginAction(std::string_view name);
  /// Ends an entry: sets its end time to the current time.
  void end(Entry entry);

  /// Removes all peers of an entry, so that addPeer() can list the current
  /// ones.
  void clearPeers(Entry entry);
  /// Adds world rank `rank` to the peers of an entry. Beyond
  /// FlightEntry::kMostPeers ranks, only the number of peers increases.
  void addPeer(Entry entry, int rank);

  /// Stores the current time as the rank's last sign of life. A rank that waits
  /// for other ranks calls this at each poll.
  void heartbeat();
  /// Records that the rank has finished its work and only waits for other
  /// ranks.
  void leave();

  /// Returns a copy of the recorder's header fields and entries.
  FlightLog log() const;

  /// Returns the steady clock's time in seconds. All processes of one host
  /// share this clock.
  static double now();

private:
  /// Returns the entry with index `entry`; null if it has been overwritten.
  FlightEntry *find(Entry entry);
  /// Appends an entry in progress of kind `kind`, and returns its index.
  Entry add(FlightKind kind, std::string_view call, std::string_view action,
            std::string_view value);

  /// Memory of the header and the entries: a mapping of `bytes` bytes, or heap
  /// memory if `bytes` is 0.
  void *memory = nullptr;
  size_t bytes = 0;
  FlightHeader *header = nullptr; ///< at the beginning of `memory`
  FlightEntry *ring = nullptr;    ///< directly after `header`
};

/// Returns the path of the flight recorder file of `rank`, such as
/// "FOLDER/flight.3".
std::string flightFile(const std::string &folder, int rank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
