//===- HostTrainingState.h - host copies of weights and optimizer state ---===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
#define PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/device/Device.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Gives the host access to a rank's shards of weights and optimizer state, for
/// checkpoints.
///
/// - If the device shares the host's memory, the shards are the device's own
///   buffers; fetch() and store() do nothing.
/// - Otherwise the shards are copies in pinned host memory. fetch() copies from
///   the device, store() to the device.
class HostTrainingState {
public:
  /// Borrows `device`, and the memory to which `buffers` (a table of addresses)
  /// points. The addresses must be set.
  HostTrainingState(const program::ProgramT &program, Device &device,
                    const BufferTable &buffers);

  /// Allocates host memory for copies of the shards, unless the device shares
  /// the host's memory. Call this before fetch() and store(). Further calls do
  /// nothing.
  Status open();

  /// Returns the tensors of the training state, each once, with `data` in host
  /// memory.
  std::span<const StateTensor> tensors() const { return {pieces.data(), once}; }
  /// Returns the training state, one entry per buffer: first the entries of
  /// tensors() (one buffer of each tensor), then the tensors' other buffers.
  std::span<const StateTensor> all() const { return pieces; }

  /// Waits for the device, and copies the shards of tensors() to the host.
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
  /// Number of different tensors. `pieces` begins with one entry for each of
  /// them. Its other entries are more buffers of the same tensors.
  size_t once = 0;
  bool isOpen = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
