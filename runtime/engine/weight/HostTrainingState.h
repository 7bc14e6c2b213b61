//===- HostTrainingState.h - host copies of weights and optimizer state ---===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
#define PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/device/Device.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Host access to a rank's pieces of the trained weights and of the optimizer
/// state, for checkpoints. If the device shares the host's memory, the pieces
/// are the device's own buffers, and transfers are no-ops. Otherwise they are
/// pinned copies, which fetch() and store() synchronize.
class HostTrainingState {
public:
  /// Borrows `device` and the buffers of `buffers`, which must outlive this
  /// object. Requires the base addresses of all buffers.
  HostTrainingState(const program::ProgramT &program, Device &device,
                    const BufferTable &buffers);

  /// Allocates the host copies. Must come before fetch() and store(); repeated
  /// calls do nothing.
  Status open();

  /// Returns every tensor of the state once.
  std::span<const StateTensor> tensors() const { return {pieces.data(), once}; }
  /// Returns tensors(), and then the further buffers of tensors that the
  /// program stores more than once.
  std::span<const StateTensor> all() const { return pieces; }

  /// Copies tensors() from the device to the host, after all work enqueued on
  /// the device is done.
  Status fetch();
  /// Copies all() from the host to the device.
  Status store();

private:
  Device &device;
  /// The state as returned by all(); `data` points to host memory.
  std::vector<StateTensor> pieces;
  /// Bytes of each piece.
  std::vector<int64_t> bytes;
  /// Address of each piece in the device's memory.
  std::vector<void *> onDevice;
  /// Number of leading entries of `pieces` with distinct names.
  size_t once = 0;
  bool isOpen = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
