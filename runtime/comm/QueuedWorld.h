//===- QueuedWorld.h - world whose groups run on device queues ------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDWORLD_H
#define PCC_RUNTIME_COMM_QUEUEDWORLD_H

#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// The functions that only a world of queued groups (QueuedGroup.h) has. A call
/// of such a group returns before it is complete, so its errors, its progress
/// and a missed deadline are asked for here. World::queued() returns them. Only
/// the rank's thread may call.
class QueuedWorld {
public:
  virtual ~QueuedWorld() = default;

  /// Tells the groups that the device captures the calls that follow as a CUDA
  /// graph instead of executing them. The capture ends at the first
  /// beginReplay().
  virtual void beginRecording() = 0;
  /// Tells the groups that the device is about to execute the captured CUDA
  /// graph once. No other queued call may be in flight.
  virtual void beginReplay() = 0;
  /// Returns the error of any queued call, or the error with which another rank
  /// ended the run, since the run began. Returns success if there is none. Does
  /// not block.
  virtual Status poll() = 0;
  /// Returns a counter that changes whenever a queued call of this rank
  /// completes. A caller that sees the same value twice knows that no call has
  /// completed in between.
  virtual uint64_t progress() const = 0;
  /// Returns the error (exit code 14) for a wait of `seconds` during which no
  /// queued call has completed. The error names the oldest incomplete call; if
  /// there is none, it names the device.
  virtual Status missed(double seconds) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDWORLD_H
