//===- FlightEntry.h - memory layout of a flight recorder -----------------===//
//
// A recorder is a header followed by a ring buffer of the latest entries:
//
//   | FlightHeader | FlightEntry 0 | FlightEntry 1 | … | capacity - 1 |
//
// Header and entries have a fixed size and hold no pointers. Other processes
// read the memory while the rank writes to it, and after the rank has died. An
// entry may therefore be half-written, so readers check every number and every
// text before use.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pcc::runtime {

/// Kind of an activity that a rank records in its flight recorder.
enum class FlightKind : uint32_t {
  Action, ///< an action of the schedule, such as 0F3; also "load" and "save"
  Wait,   ///< a wait for peers, in a collective or for messages
  Post,   ///< messages in flight, from post() to the end of their wait
};

/// Name of the first action that a rank records. In this action, the rank opens
/// its device and MPI or NCCL.
inline constexpr std::string_view kStartAction = "start";

/// One recorded activity of a rank. Texts end with a NUL, and are cut to the
/// size of their field.
struct FlightEntry {
  /// Largest number of peers (ranks with which this rank communicates) that one
  /// FlightEntry can list.
  static constexpr int kMostPeers = 8;

  double begin = 0; ///< begin, in seconds of the host's steady clock
  double end = 0;   ///< end, on the same clock; 0 while in progress
  int64_t step = 0; ///< step, counted from 1; 0 before the first step
  FlightKind kind = FlightKind::Action;
  uint32_t numPeers = 0; ///< number of peers; may exceed kMostPeers
  /// World ranks of the peers, at most kMostPeers. Peers are the ranks with
  /// which this rank communicates. If the activity is a wait, the peers are the
  /// ranks for which this rank was still waiting when it last updated the list.
  /// For example, this rank waits until ranks 1 and 2 have called allReduce().
  /// Rank 1 calls allReduce(), and this rank then updates the list. The list
  /// then contains only rank 2.
  int32_t peers[kMostPeers] = {};
  char call[16] = {};   ///< name of the call, such as "all_reduce" or "send"
  char action[32] = {}; ///< action of the schedule
  char value[96] = {};  ///< last part of the tensor's name
};

/// First part of the memory of a flight recorder. A flight recorder is a log of
/// the latest activities of one rank, such as waits for other ranks. The second
/// part of the memory is a ring buffer of `capacity` objects of the type
/// FlightEntry. Each FlightEntry describes one activity.
struct FlightHeader {
  static constexpr uint64_t kMagic = 0x31544847494c4650; // "PFLIGHT1"

  uint64_t magic = kMagic; ///< identifies the format
  int32_t rank = 0;        ///< world rank
  uint32_t capacity = 0;   ///< number of entries in the ring
  /// Number of entries that the rank has written so far. An entry describes one
  /// activity of the rank, such as a wait. The first entry has number 0. Entry
  /// n is at index n % capacity of the ring buffer. For example, if `capacity`
  /// is 512, entry 513 replaces entry 1.
  std::atomic<uint64_t> count{0};
  std::atomic<int64_t> step{0}; ///< current step, counted from 1
  /// Time at which the rank last showed that it is alive, in seconds of the
  /// host's steady clock. The rank stores the current time in these cases:
  ///
  /// - The rank creates its flight recorder, the log of its activities.
  /// - The rank begins or ends an activity that it records, such as a wait.
  /// - The rank polls during a wait. Ranks that are threads of one process do
  ///   not store the time in this case.
  std::atomic<double> moved{0};
  /// Whether the rank has finished all of its work.
  std::atomic<bool> hasLeft{false};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H
