//===- HostTrainingState.h - what training changes, as the host has it ----===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
#define PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/device/Device.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// A rank's pieces of the weights that a program changes, and of what its
/// optimizer keeps: those of the device if it shares the host's memory, else
/// copies.
class HostTrainingState {
public:
  /// All of these must outlive this. The bases of all buffers are known.
  HostTrainingState(const program::ProgramT &program, Device &device,
                    const BufferTable &buffers);

  /// Makes room for the copies. Before any other call; once is enough.
  Status open();

  /// Each tensor once.
  std::span<const StateTensor> tensors() const { return {pieces.data(), once}; }
  /// Further placements of them, too.
  std::span<const StateTensor> all() const { return pieces; }

  /// Copies tensors() from the device, when all that was begun is done.
  Status fetch();
  /// Copies all() to the device.
  Status store();

private:
  Device &device;
  std::vector<StateTensor> pieces; ///< their `data` is the host's
  std::vector<int64_t> bytes;
  std::vector<void *> onDevice;
  size_t once = 0;
  bool isOpen = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
