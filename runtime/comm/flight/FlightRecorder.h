//===- FlightRecorder.h - crash-proof log of a rank's latest activities ---===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/flight/FlightLog.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Records the latest actions, waits and messages of one rank. The error
/// message of a failed run can then state what every rank was doing:
///
///   action 0F3 ────────────────────────────── begin … end
///     wait: all_reduce of h, ranks 1 and 3 ── begin … end
///
/// Action 0F3 is the forward (F) of microbatch 3 on stage 0. With a file, the
/// entries are in a shared mapping of that file and therefore survive even
/// SIGKILL. Only the rank's thread may write. Recording an entry costs one
/// clock reading and a copy of the texts, and allocates nothing.
class FlightRecorder {
public:
  /// Number of latest entries that a recorder keeps. Further entries overwrite
  /// the oldest ones.
  static constexpr uint32_t kCapacity = 512;

  /// Creates the file `path`, or truncates an existing file, and records in it.
  /// If `path` is empty, or if the file cannot be created, records in memory of
  /// this process instead.
  explicit FlightRecorder(int rank, const std::string &path = {});
  /// Unmaps the recorder's memory. The file stays on disk.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// Sets the number of the training or inference step, counted from 1. Entries
  /// that are recorded later contain this number.
  void beginStep(int64_t step);

  /// Index of an entry, counted from 0 since the recorder was created. A call
  /// for an entry that newer entries have overwritten has no effect.
  using Entry = uint64_t;
  /// Begins an entry of kind Wait or Post for the call `call`, such as
  /// "all_reduce", and returns the entry's index. The entry is in progress
  /// until end().
  Entry begin(FlightKind kind, std::string_view call, const ActionId &action);
  /// Begins an entry of kind Action for the schedule action `name`, and returns
  /// the entry's index. An example of a name is "0F3": stage 0, forward (F),
  /// microbatch 3. The entry is in progress until end().
  Entry beginAction(std::string_view name);
  /// Ends an entry: sets its end time to the current time.
  void end(Entry entry);

  /// Removes all peers of an entry. The caller then lists the current peers by
  /// addPeer().
  void clearPeers(Entry entry);
  /// Adds world rank `rank` to the peers of an entry. An entry stores at most
  /// FlightEntry::kMostPeers ranks. Further peers only increase the entry's
  /// number of peers.
  void addPeer(Entry entry, int rank);

  /// Records that the rank is alive. Waits call this while they poll.
  void heartbeat();
  /// Records that the rank has finished all of its work, and only waits for
  /// other ranks to finish.
  void leave();

  /// Returns a copy of the recorder's header fields and entries.
  FlightLog log() const;

  /// Returns the current time of the clock of all entries: the host's steady
  /// clock, in seconds. Processes of one host share this clock.
  static double now();

private:
  /// Returns the entry with index `entry`, or null if newer entries have
  /// overwritten it.
  FlightEntry *find(Entry entry);
  /// Appends an entry in progress of kind `kind`, and returns its index.
  Entry add(FlightKind kind, std::string_view call, std::string_view action,
            std::string_view value);

  /// Memory of the header and of the ring buffer of entries. The memory is a
  /// mapping of `bytes` bytes; if `bytes` is 0, it is heap memory.
  void *memory = nullptr;
  size_t bytes = 0;
  FlightHeader *header = nullptr; ///< at the beginning of `memory`
  FlightEntry *ring = nullptr;    ///< directly after `header`
};

/// Returns the path of the flight recorder file of `rank`, such as
/// "FOLDER/flight.3". The ranks of a host share the directory `folder`.
std::string flightFile(const std::string &folder, int rank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
