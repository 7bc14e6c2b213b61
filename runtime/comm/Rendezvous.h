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

/// Channel between the processes of all ranks, independent of NCCL. Open while
/// NCCL communicators exist. It has two purposes:
///
/// - gather() and broadcast() distribute start-up data, such as an NCCL unique
///   id. All ranks must make these calls in the same order.
/// - abort() and poll() send the error of one rank to all ranks. Any thread may
///   call them.
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

  /// Returns the error that has ended the run, on this or any other rank;
  /// success while the run goes on. Does not block. After an error, the rank
  /// must return within a few seconds, or its process is ended.
  virtual Status poll() const = 0;
  /// Returns the rank whose process ended without an error message, if this is
  /// why the run failed. Otherwise returns std::nullopt.
  virtual std::optional<int> lost() const = 0;

  /// Sets the longest time, in seconds, for one call of a watched library
  /// (CUDA, NCCL). A longer call ends the run with an error, and ends the
  /// rank's process.
  virtual void setDeadline(double seconds) = 0;

  /// Ends the run on all ranks with error `why`. Does nothing if the run has
  /// already ended.
  virtual void abort(const Status &why) = 0;
  /// Announces that this rank has finished, so that the end of its process is
  /// no failure. Rank 0 blocks until all ranks have called leave(). If this
  /// takes longer than the deadline of setDeadline(), rank 0 returns exit code
  /// 14. Other ranks do not block.
  virtual Status leave() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
