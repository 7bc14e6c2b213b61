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

/// Connections by which the processes of all ranks send short messages to each
/// other. The connections do not use NCCL. They exist before the first NCCL
/// communicator is created, and stay open until the last one is destroyed. They
/// have two purposes:
///
/// - Start-up: gather() sends data of every rank to rank 0. broadcast() sends
///   data of rank 0, such as an NCCL unique id, to all ranks. All ranks must
///   make these calls in the same order.
/// - Errors: abort() sends the error of one rank to all ranks. poll() returns
///   the error that has ended the run. Any thread may call abort() and poll().
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Collects the string `mine`, at most 64 KiB, of every rank. Rank 0 waits up
  /// to `seconds`, and sets `all` to the list of the strings in rank order. On
  /// other ranks `all` becomes empty, and the call does not block.
  virtual Status gather(const std::string &mine, double seconds,
                        std::vector<std::string> &all) = 0;
  /// Copies the bytes `data`, at most 64 KiB, from rank 0 to all ranks. All
  /// ranks must pass the same size. Rank 0 does not block. The other ranks wait
  /// for the bytes for about `seconds` at most.
  virtual Status broadcast(std::span<std::byte> data, double seconds) = 0;

  /// Returns the error that has ended the run. The error may have occurred on
  /// this rank or on any other rank. Returns success if no error has ended the
  /// run. Does not block.
  ///
  /// After an error, the rank must call leave() or destroy this object within a
  /// few seconds. Otherwise, this object ends the process of the rank.
  virtual Status poll() const = 0;
  /// Returns the rank whose process ended without an error message, if this is
  /// why the run failed. Otherwise returns std::nullopt.
  virtual std::optional<int> lost() const = 0;

  /// Sets a time limit in seconds. The limit has two effects:
  ///
  /// - If one call of CUDA or NCCL on this rank takes longer than the limit,
  ///   this object ends the run on all ranks with an error, and ends the
  ///   process of this rank.
  /// - leave() on rank 0 waits for the other ranks. If the wait takes longer
  ///   than the limit, leave() returns an error.
  virtual void setDeadline(double seconds) = 0;

  /// Ends the run on all ranks with error `why`. Does nothing if the run has
  /// already ended.
  virtual void abort(const Status &why) = 0;
  /// Announces that this rank has finished. After leave(), the process of the
  /// rank may end. If the process ends without leave(), the run fails on all
  /// ranks.
  ///
  /// Rank 0 blocks until all other ranks have called leave(). The longest time
  /// for this wait is the number of seconds that was passed to setDeadline().
  /// After this time, leave() returns an error with exit code 14 on rank 0. On
  /// other ranks, leave() does not block. If the run has failed, leave()
  /// returns the error of the run.
  virtual Status leave() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
