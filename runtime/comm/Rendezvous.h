//===- Rendezvous.h - how ranks find and watch each other -----------------===//

#ifndef PCC_RUNTIME_COMM_RENDEZVOUS_H
#define PCC_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// What ranks tell each other beside their communicators: before there are any,
/// and when one of them ends. gather() and broadcast() are called by all ranks
/// in the same order and wait at most `seconds` (exit code 14); the others may
/// be called from any thread.
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Gives rank 0 what every rank has, at most 64 KiB each, by rank; others get
  /// nothing.
  virtual Status gather(const std::string &mine, double seconds,
                        std::vector<std::string> &all) = 0;
  /// Gives every rank what rank 0 has, at most 64 KiB.
  virtual Status broadcast(std::span<std::byte> data, double seconds) = 0;

  /// What has ended the run, on whichever rank; success as long as nothing has.
  /// Costs a look at a word: waits ask again and again. A rank that does not
  /// leave within seconds of an error is ended.
  virtual Status poll() const = 0;
  /// The rank whose process has ended without a word, if that is why.
  virtual std::optional<int> lost() const = 0;

  /// A rank that is inside one call of a library (WatchedCalls.h) for so long
  /// from now on ends the run, and is ended.
  virtual void setDeadline(double seconds) = 0;

  /// Tells all ranks why this one ends; the first reason is everybody's.
  virtual void abort(const Status &why) = 0;
  /// This rank has done all that it had to: its end alarms nobody. Rank 0 waits
  /// for the others, with the deadline; exit code 14 if one does not come here.
  virtual Status leave() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
