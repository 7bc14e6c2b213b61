//===- QueuedWorld.h - world whose groups run on device queues ------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDWORLD_H
#define PCC_RUNTIME_COMM_QUEUEDWORLD_H

#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Interface of a World (all ranks of a run) whose groups use device queues,
/// such as CUDA streams. A collective only enqueues its operation. These
/// functions report whether the operation has completed or failed. Only the
/// rank's thread may call.
class QueuedWorld {
public:
  virtual ~QueuedWorld() = default;

  /// Announces that the device begins to capture a CUDA graph. All
  /// communication calls until the first beginReplay() become part of the
  /// graph.
  virtual void beginRecording() = 0;
  /// Announces that the device is about to execute a captured CUDA graph. All
  /// earlier communication calls must be complete. Until the execution is over,
  /// progress() and missed() report the calls in the graph.
  virtual void beginReplay() = 0;
  /// Returns an error if an enqueued operation has failed, or if another rank
  /// has ended the run. Does not block.
  virtual Status poll() = 0;
  /// Returns a counter that changes whenever a queued call of this rank
  /// completes.
  virtual uint64_t progress() const = 0;
  /// Returns the error (exit code 14) of a wait of `seconds` without progress.
  /// The message names the oldest incomplete call of a group. If all calls are
  /// complete, it names the device.
  virtual Status missed(double seconds) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDWORLD_H
