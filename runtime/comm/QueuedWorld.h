//===- QueuedWorld.h - world whose groups run on device queues ------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDWORLD_H
#define PCC_RUNTIME_COMM_QUEUEDWORLD_H

#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Monitors the work that the groups of one rank have enqueued on device
/// queues, such as CUDA streams. A call of such a group, for example an
/// all-reduce, only enqueues its work and returns. The functions of this class
/// report whether the work has completed or failed. Only the thread that
/// executes the rank may call these functions.
class QueuedWorld {
public:
  virtual ~QueuedWorld() = default;

  /// Announces that the device begins to capture a CUDA graph. From now on,
  /// communication calls, such as all-reduces, become part of the graph. The
  /// device does not execute them during the capture. The first call of
  /// beginReplay() ends the recording. Communication calls that follow are not
  /// part of the graph.
  virtual void beginRecording() = 0;
  /// Announces that the device is about to execute a captured CUDA graph. The
  /// graph contains communication calls, such as all-reduces. All communication
  /// calls that this rank made outside the graph must be complete. Must be
  /// called before each execution of the graph.
  ///
  /// During the execution, this object monitors the calls of the graph. The
  /// result of progress() changes when the device completes a call of the
  /// graph. If the execution takes too long, the error message of missed()
  /// names the first call of the graph that is not complete.
  virtual void beginReplay() = 0;
  /// Returns an error if an enqueued operation has failed, or if another rank
  /// has ended the run. Does not block.
  virtual Status poll() = 0;
  /// Returns a counter that changes whenever a queued call of this rank
  /// completes.
  virtual uint64_t progress() const = 0;
  /// Returns the error (exit code 14) for a wait that has exceeded its limit.
  /// The host has waited for the device for at least `seconds` seconds. The
  /// error message names the oldest communication call, such as an all-reduce,
  /// that is not complete. If all communication calls are complete, the message
  /// names the device instead.
  virtual Status missed(double seconds) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_QUEUEDWORLD_H
