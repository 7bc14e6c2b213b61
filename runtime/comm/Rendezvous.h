//===- Rendezvous.h - start-up exchange and failure detection of ranks ----===//

#ifndef PCC_RUNTIME_COMM_RENDEZVOUS_H
#define PCC_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Channel between ranks besides their communicators. The ranks need the
/// channel before any communicator exists (an NCCL unique id must be
/// distributed), and to tell each other when one of them fails.
///
/// All ranks must call gather() and broadcast() in the same order. A call that
/// has to wait for other ranks does so for about `seconds`, then ends the run
/// with exit code 14. All other functions may be called from any thread.
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Collects `mine`, at most 64 KiB, of every rank. On rank 0, `all` gets one
  /// string per rank, in rank order. On other ranks `all` becomes empty, and
  /// the call does not block.
  virtual Status gather(const std::string &mine, double seconds,
                        std::vector<std::string> &all) = 0;
  /// Copies `data`, at most 64 KiB, of rank 0 to `data` of all ranks. All ranks
  /// must pass the same size. On rank 0 the call does not block.
  virtual Status broadcast(std::span<std::byte> data, double seconds) = 0;

  /// Returns the error that has ended the run, on whichever rank it occurred;
  /// success while the run goes on. Cheap enough to be called in every
  /// iteration of a wait. A rank must leave within a few seconds of an error;
  /// otherwise its process is ended.
  virtual Status poll() const = 0;
  /// Returns the rank whose process has ended without a message, if this loss
  /// is the reason why the run has ended.
  virtual std::optional<int> lost() const = 0;

  /// Sets the longest time, in seconds, that a rank may be inside one call of a
  /// watched library (WatchedCalls.h). A rank that exceeds this time ends the
  /// run, and its process is ended.
  virtual void setDeadline(double seconds) = 0;

  /// Ends the run, and tells all ranks the reason. If several ranks call this,
  /// all ranks get the first reason.
  virtual void abort(const Status &why) = 0;
  /// Declares that this rank has finished, so that the end of its process is no
  /// failure. Rank 0 blocks until all other ranks have called this, at most for
  /// the deadline; then exit code 14.
  virtual Status leave() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
