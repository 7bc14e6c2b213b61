//===- HostTrainingState.h - host copies of weights and optimizer state ---===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
#define PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/device/Device.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Gives the host access to a rank's shards (local pieces) of the trained
/// weights and of the optimizer state, for checkpoints.
///
/// - If the device shares the host's memory, the shards are the device's own
///   buffers, and fetch() and store() do nothing.
/// - Otherwise this object owns copies in pinned host memory. fetch() copies
///   the shards from the device to the host, and store() copies them back.
class HostTrainingState {
public:
  /// Stores references to `device` and to the buffers of `buffers`, which must
  /// outlive this object. The base addresses of all buffers must have been set.
  HostTrainingState(const program::ProgramT &program, Device &device,
                    const BufferTable &buffers);

  /// Allocates the copies in host memory. Must be called before fetch() and
  /// store(); further calls do nothing.
  Status open();

  /// Returns the tensors of the training state, each listed once, with `data`
  /// in host memory.
  std::span<const StateTensor> tensors() const { return {pieces.data(), once}; }
  /// Returns one entry per buffer. The entries of tensors() come first. If a
  /// tensor has several buffers, its other buffers follow.
  std::span<const StateTensor> all() const { return pieces; }

  /// Copies the shards of tensors() from the device to the host, after the
  /// device has completed all enqueued work.
  Status fetch();
  /// Copies all entries of all() from the host to the device.
  Status store();

private:
  Device &device;
  /// Training state in the order of all(); `data` points to host memory.
  std::vector<StateTensor> pieces;
  /// Size in bytes of each entry of `pieces`.
  std::vector<int64_t> bytes;
  /// Device address of each entry of `pieces`.
  std::vector<void *> onDevice;
  /// Number of entries of `pieces` that tensors() returns. They are the first
  /// entries, and they have distinct names.
  size_t once = 0;
  bool isOpen = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
