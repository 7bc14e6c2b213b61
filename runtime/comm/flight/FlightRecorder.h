//===- FlightRecorder.h - crash-proof log of a rank's latest activities ---===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H

#include "runtime/base/MappingGuard.h"
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
  /// Number of entries (one per activity) that a recorder keeps. A new entry
  /// overwrites the oldest.
  static constexpr uint32_t kCapacity = 512;

  /// Creates an empty log of the activities of a rank. `rank` is the number of
  /// the rank. `path` is the path of the file that contains the log. If the
  /// file already exists, the new log replaces its content.
  ///
  /// If `path` is empty, or if the file cannot be created, the recorder stores
  /// the log in memory instead. If another process truncates the file later,
  /// the recorder stores all later entries in memory.
  explicit FlightRecorder(int rank, const std::string &path = {});
  /// Unmaps or frees the memory that contains the log. If the log is in a file,
  /// the file stays on disk.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder &) = delete;
  FlightRecorder &operator=(const FlightRecorder &) = delete;

  /// Sets the number of the current step of the training or inference. The
  /// first step has number 1. Each entry that begins after this call contains
  /// the number. An entry describes one activity of the rank, such as a wait.
  void beginStep(int64_t step);

  /// Index of an entry (record of one activity), counted from 0. A recorder
  /// keeps only the latest kCapacity entries, and ignores the indices of older
  /// ones.
  using Entry = uint64_t;
  /// Appends an entry to the log. The entry describes a call by which the rank
  /// communicates with other ranks, such as an all-reduce. Stores the current
  /// time as the begin of the call. Returns the index of the entry. The caller
  /// passes this index to end() when the communication is complete.
  ///
  /// - `kind`: FlightKind::Post for a call that begins messages and returns at
  ///   once. FlightKind::Wait for any other call: the rank, or the GPU of the
  ///   rank, then waits until the communication is complete.
  /// - `call`: name of the call, such as "all_reduce".
  /// - `action`: schedule action and tensor for which the rank communicates.
  Entry begin(FlightKind kind, std::string_view call, const ActionId &action);
  /// Begins an entry of kind Action for the schedule action `name`, such as
  /// "0F3": stage 0, forward (F), microbatch 3. Returns the entry's index.
  Entry beginAction(std::string_view name);
  /// Ends the activity `entry`: sets its end time to the current time.
  void end(Entry entry);

  /// Removes all ranks from the list of peers of an entry. Peers are the other
  /// ranks with which this rank communicates. The entry of a wait lists the
  /// ranks for which this rank still waits. For example, the list has ranks 1
  /// and 2, and the data from rank 1 arrives. This rank then calls clearPeers()
  /// and addPeer() for rank 2.
  void clearPeers(Entry entry);
  /// Adds world rank `rank` to the list of peers (other ranks) of an entry.
  /// Does nothing if the list contains the rank. The list has room for
  /// FlightEntry::kMostPeers = 8 ranks. If the list is full, increments only
  /// FlightEntry::numPeers, the number of peers. For example, after addPeer()
  /// calls for ranks 1 to 10, the list contains ranks 1 to 8, and `numPeers` is
  /// 10.
  void addPeer(Entry entry, int rank);

  /// Stores the current time as the latest time at which this rank was active.
  /// A rank that waits for other ranks by MPI or NCCL calls this function
  /// repeatedly. If the run fails, the error message can then state that a rank
  /// "has not moved for 2.1 s".
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
  /// Returns the entry with index `entry`; null if a newer entry has
  /// overwritten it.
  FlightEntry *find(Entry entry);
  /// Appends an entry to the log, for an activity of the rank that begins now.
  /// Returns the index of the entry, which has no end time yet.
  ///
  /// - `kind`: kind of the activity, such as FlightKind::Wait
  /// - `call`: name of the communication, such as "all_reduce"; empty if `kind`
  ///   is FlightKind::Action
  /// - `action`: name of the schedule action, such as "0F3": stage 0, forward
  ///   (F), microbatch 3
  /// - `value`: name of the tensor; may be empty
  Entry add(FlightKind kind, std::string_view call, std::string_view action,
            std::string_view value);

  /// Address of the memory that contains the header and the entries. The
  /// constructor gets this memory from mmap(). The memory is then a mapping of
  /// the recorder's file, or anonymous memory if the recorder has no file.
  /// `bytes` is the size of the mapping. If mmap() fails, the constructor
  /// allocates the memory by calloc(), and `bytes` is 0.
  void *memory = nullptr;
  size_t bytes = 0;
  /// Protects the rank from SIGBUS, if another process truncates the recorder's
  /// file. Later entries are then recorded in memory only.
  MappingGuard guard;
  FlightHeader *header = nullptr; ///< at the beginning of `memory`
  FlightEntry *ring = nullptr;    ///< directly after `header`
};

/// Returns the path of the flight recorder file of `rank`, such as
/// "FOLDER/flight.3".
std::string flightFile(const std::string &folder, int rank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTRECORDER_H
