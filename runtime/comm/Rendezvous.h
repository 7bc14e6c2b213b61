//===- Rendezvous.h - start-up exchange and failure detection of ranks ----===//

#ifndef PCC_RUNTIME_COMM_RENDEZVOUS_H
#define PCC_RUNTIME_COMM_RENDEZVOUS_H

#include "status/Status.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Channel between the processes of all ranks, independent of NCCL. It is
/// opened before the NCCL communicators, and stays open while they are used. It
/// has two purposes:
///
/// - It distributes start-up data, such as an NCCL unique id: gather(),
///   broadcast(). All ranks must make these calls in the same order. A call
///   that waits for other ranks for more than about `seconds` ends the run with
///   exit code 14.
/// - It sends the error of a rank to all other ranks: abort(), poll().
///
/// Any thread may call the functions other than gather() and broadcast().
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Collects the string `mine`, at most 64 KiB, of every rank on rank 0. On
  /// rank 0, `all` becomes the list of these strings in rank order. On other
  /// ranks, `all` becomes empty, and the call does not block.
  virtual Status gather(const std::string &mine, double seconds,
                        std::vector<std::string> &all) = 0;
  /// Copies the bytes `data`, at most 64 KiB, from rank 0 to all ranks. All
  /// ranks must pass the same size. On rank 0 the call does not block.
  virtual Status broadcast(std::span<std::byte> data, double seconds) = 0;

  /// Returns the error that has ended the run, on whichever rank it occurred;
  /// success while the run goes on. Does not block, and is cheap enough for
  /// every iteration of a wait. After an error the rank must return from its
  /// work within a few seconds; otherwise its process is ended.
  virtual Status poll() const = 0;
  /// If the run has failed because a rank's process ended without an error
  /// message, returns that rank. Otherwise returns std::nullopt.
  virtual std::optional<int> lost() const = 0;

  /// Sets the longest time, in seconds, that a rank may be inside one call of a
  /// watched library (CUDA, NCCL; see WatchedCalls.h). If a rank exceeds this
  /// time, the run ends with an error, and the process of that rank is ended.
  virtual void setDeadline(double seconds) = 0;

  /// Ends the run with error `why`, and sends the error to all ranks. If
  /// several ranks call abort(), all ranks get the first error.
  virtual void abort(const Status &why) = 0;
  /// Notifies rank 0 that this rank has finished its work, so that the end of
  /// this process is not treated as a failure. On rank 0, blocks until all
  /// other ranks have called leave(); returns exit code 14 if the deadline
  /// passes first. On other ranks, does not block.
  virtual Status leave() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
