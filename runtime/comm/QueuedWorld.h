//===- QueuedWorld.h - world whose groups run on device queues ------------===//

#ifndef PCC_RUNTIME_COMM_QUEUEDWORLD_H
#define PCC_RUNTIME_COMM_QUEUEDWORLD_H

#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Additional functions of a communicator (world) whose groups run on device
/// queues such as CUDA streams (QueuedGroup.h). A call of such a group returns
/// before its operation is complete. Its later failure, completion or missed
/// deadline is reported by these functions. World::queued() returns this
/// interface. Only the rank's thread may call.
class QueuedWorld {
public:
  virtual ~QueuedWorld() = default;

  /// Must be called when the device begins to capture a CUDA graph. Later calls
  /// of groups become part of the graph, and are not executed yet. The capture
  /// ends at the first beginReplay().
  virtual void beginRecording() = 0;
  /// Must be called before each execution of the captured CUDA graph.
  /// progress() and missed() then report the graph's calls. All calls that were
  /// enqueued before must be complete.
  virtual void beginReplay() = 0;
  /// Returns an error if, since the run began, an enqueued operation has failed
  /// or another rank has ended the run with an error. Otherwise returns
  /// success. Does not block.
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
