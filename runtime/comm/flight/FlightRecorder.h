//===- FlightRecorder.h - crash-proof log of a rank's latest activities ---===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/flight/FlightLog.h"

#include <string>
#include <string_view>

namespace pcc::runtime {

/// Records the latest actions, waits and messages of one rank, so that the
/// error of a failed run can tell where every rank was:
///
///   action 0F3 ────────────────────────────── begin … end
///     wait: all_reduce of h, ranks 1 and 3 ── begin … end
///
/// With a file, the entries are in a shared mapping of that file and therefore
/// survive even SIGKILL. Only the rank's thread may write. Recording an entry
/// costs one clock reading and a copy of the texts, and allocates nothing.
class FlightRecorder {
public:
  /// Number of entries kept. Older entries are overwritten.
  static constexpr uint32_t kCapacity = 512;

  /// Creates or truncates the file `path`. If `path` is empty, or if the file
  /// cannot be created, records in memory of this process instead.
  explicit FlightRecorder(int rank, const std::string &path = {});
  /// Unmaps the memory. The file stays.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// Sets the step of the following entries, counted from 1.
  void beginStep(int64_t step);

  /// Number of an entry, counted from 0 since the start. Calls for an entry
  /// that has been overwritten have no effect on the ring.
  using Entry = uint64_t;
  /// Begins a Wait or Post entry for the call `call`.
  Entry begin(FlightKind kind, std::string_view call, const ActionId &action);
  /// Begins an Action entry.
  Entry beginAction(std::string_view name);
  /// Sets the end of an entry to the current time.
  void end(Entry entry);

  /// Removes all peers of an entry, so that addPeer() can list the current
  /// ones.
  void clearPeers(Entry entry);
  /// Adds world rank `rank` to the peers of an entry. Beyond kMostPeers only
  /// the number of peers grows.
  void addPeer(Entry entry, int rank);

  /// Records that the rank is alive. Waits call this while they poll.
  void heartbeat();
  /// Records that the rank has finished all of its work, and only waits for
  /// other ranks to finish.
  void leave();

  /// Returns a copy of the recorder.
  FlightLog log() const;

  /// Returns the current time of the clock of all entries: the host's steady
  /// clock, in seconds. Processes of one host share this clock.
  static double now();

private:
  /// Returns an entry, or null if newer entries have overwritten it.
  FlightEntry *find(Entry entry);
  /// Begins an entry of any kind.
  Entry add(FlightKind kind, std::string_view call, std::string_view action,
            std::string_view value);

  /// Header and ring: `bytes` bytes that are mapped, or allocated if `bytes` is
  /// 0.
  void *memory = nullptr;
  size_t bytes = 0;
  FlightHeader *header = nullptr; ///< at the beginning of `memory`
  FlightEntry *ring = nullptr;    ///< behind `header`
};

/// Returns the path of a rank's recorder in the folder that the ranks of a host
/// share: "FOLDER/flight.3".
std::string flightFile(const std::string &folder, int rank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
